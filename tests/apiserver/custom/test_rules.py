"""Rules in CEL where objects are written: every way to write one is asked, and what was stored before may stay."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.apiserver.asking import Api
from tests.apiserver.custom.samples import (
    DEFINITIONS,
    GADGETS,
    INTEGER,
    SCALE,
    STATUS,
    STRING,
    Json,
    define,
    definition,
    gadget,
    heard,
    version,
)

RULES = "x-kubernetes-validations"
SMALL = {"rule": "self <= 10", "message": "at most ten"}
GROWS = {"rule": "self >= oldSelf", "message": "must not shrink"}
SPEC: Json = {"type": "object", "properties": {"size": INTEGER | {RULES: [SMALL, GROWS]}, "color": STRING}}
MERGE, APPLY = "application/merge-patch+json", "application/apply-patch+yaml"


def ruled(spec: Json = SPEC, **more: Any) -> Json:
    return definition(version(spec=spec, **more))


def causes(answer: Json) -> list[str]:
    return [f"{each['field']}: {each['message']}" for each in answer["details"]["causes"]]


@pytest.mark.parametrize("how", ["create", "update", "merge", "apply", "scale"])
async def test_every_way_to_write_is_asked(api: Api, how: str) -> None:
    await define(api, ruled(subresources={"status": {}, "scale": SCALE}))
    made = await api.ok("POST", GADGETS, gadget(spec={"size": 5}))
    large = {"spec": {"size": 11}}
    match how:
        case "create":
            asked = api.ask("POST", GADGETS, gadget("b", **large))
        case "update":
            asked = api.ask("PUT", f"{GADGETS}/a", made | large)
        case "merge":
            asked = api.ask("PATCH", f"{GADGETS}/a", large, content_type=MERGE)
        case "apply":
            body = gadget(**large)
            asked = api.ask("PATCH", f"{GADGETS}/a?fieldManager=me&force=true", body, content_type=APPLY)
        case _:
            asked = api.ask("PATCH", f"{GADGETS}/a/scale", {"spec": {"replicas": 11}}, content_type=MERGE)
    status, answer = await asked
    assert status == 422, answer
    assert causes(answer) == ["spec.size: Invalid value: 11: at most ten"]


async def test_a_change_is_judged_by_what_was_before(api: Api) -> None:
    await define(api, ruled())
    await api.ok("POST", GADGETS, gadget(spec={"size": 5}))
    await api.ok("PATCH", f"{GADGETS}/a", {"spec": {"size": 6}}, content_type=MERGE)
    status, answer = await api.ask("PATCH", f"{GADGETS}/a", {"spec": {"size": 4}}, content_type=MERGE)
    assert status == 422
    assert causes(answer) == ["spec.size: Invalid value: 4: must not shrink"]


async def test_status_has_rules_of_its_own(api: Api) -> None:
    phase = {"rule": "self.phase != 'bad'", "message": "a bad phase"}
    schema = {"type": "object", "properties": {"spec": SPEC, "status": STATUS | {RULES: [phase]}}}
    await define(api, ruled(subresources={"status": {}}, schema={"openAPIV3Schema": schema}))
    await api.ok("POST", GADGETS, gadget(spec={"size": 5}))
    body = {"status": {"phase": "bad"}}
    status, answer = await api.ask("PATCH", f"{GADGETS}/a/status", body, content_type=MERGE)
    assert status == 422
    assert causes(answer) == ["status: Invalid value: a bad phase"]


async def test_what_was_stored_before_a_rule_is_tolerated_with_a_warning(api: Api) -> None:
    await define(api, ruled({"type": "object", "properties": {"size": INTEGER, "color": STRING}}))
    await api.ok("POST", GADGETS, gadget(spec={"size": 20, "color": "red"}))
    now = await api.ok("GET", f"{DEFINITIONS}/gadgets.shop.example.com")
    now["spec"]["versions"] = ruled()["spec"]["versions"]
    await api.ok("PUT", f"{DEFINITIONS}/gadgets.shop.example.com", now)
    await heard(api)

    answer = await api.send("PATCH", f"{GADGETS}/a", {"spec": {"color": "blue"}}, content_type=MERGE)
    assert answer.status == 200
    assert ("Warning", '299 - "spec.size: Invalid value: 20: at most ten"') in answer.headers
    status, refused = await api.ask("PATCH", f"{GADGETS}/a", {"spec": {"size": 21}}, content_type=MERGE)
    assert status == 422
    assert causes(refused) == ["spec.size: Invalid value: 21: at most ten"]


async def test_a_definition_with_a_bad_rule_is_refused(api: Api) -> None:
    bad = {"rule": "self.shade == 'red'"}
    status, answer = await api.ask("POST", DEFINITIONS, ruled({**SPEC, RULES: [bad]}))
    assert status == 422
    assert "undefined field 'shade'" in answer["message"]


async def test_rules_wait_until_the_object_has_the_right_shape(api: Api) -> None:
    await define(api, ruled({**SPEC, "required": ["size"]}))
    status, answer = await api.ask("POST", GADGETS, gadget(spec={}))
    assert status == 422
    assert causes(answer) == [
        "spec.size: Required value",
        "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid;"
        " correct the existing errors to complete validation",
    ]


async def test_rules_that_take_a_while_hold_up_nobody_else(api: Api) -> None:
    rows = {"type": "array", "maxItems": 300, "items": INTEGER}
    every = {"rule": "self.all(x, self.all(y, x + y < 999))", "message": "too much"}
    table = {"type": "array", "maxItems": 5, "items": rows | {RULES: [every]}}
    await define(api, ruled({"type": "object", "properties": {"table": table}}))
    turns = 0
    asked = asyncio.create_task(api.ask("POST", GADGETS, gadget(spec={"table": [[1] * 300] * 4 + [[999] * 3]})))
    while not asked.done():
        turns += 1
        await asyncio.sleep(0)
    status, answer = await asked
    assert status == 422
    assert causes(answer) == ["spec.table[4]: Invalid value: too much"]
    assert turns > 100, "the loop went on while rules were asked"
