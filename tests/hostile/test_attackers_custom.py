"""Definitions and objects that turn a small request into a lot of work: refused in words, and nobody else waits.

What each of them did before it was found is told beside it: how long everybody waited for a request of that size.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any, NamedTuple

import orjson
import pytest

from hardpoint.apiserver.server import ApiServer
from hardpoint.store.memory import MemoryStore
from tests.apiserver.asking import Api
from tests.apiserver.custom.samples import DEFINITIONS, GADGETS, STRING, define, definition, gadget, version
from tests.hostile.liveliness import staying_lively, taking_no_more_than

Json = dict[str, Any]

ANSWERED_SECONDS_MAX = 30.0
"""In a thread, on a machine that is busy with other things."""
MEMORY_MIB_MAX = 450
"""More than the whole test needs so far; one of these took eight gigabytes."""
RULES = "x-kubernetes-validations"
INTEGERS: Json = {"type": "array", "items": {"type": "integer"}}
APPLY = "application/apply-patch+yaml"


@pytest.fixture
async def api() -> AsyncIterator[Api]:
    async with ApiServer(MemoryStore()).running() as server:
        yield Api(server)


class Bomb(NamedTuple):
    schema: Json
    """Of `spec`."""
    spec: Json
    status: int
    words: str = ""


def fields(rules: list[Json] | None = None, **properties: Json) -> Json:
    return {"type": "object", "properties": properties} | ({RULES: rules} if rules else {})


def items(each: Json, **more: Any) -> Json:
    return {"type": "array", "items": each} | more


def branches(depth: int, width: int) -> Json:
    """Alternatives of alternatives, none of which fits an empty object."""
    word = "anyOf" if depth % 2 else "oneOf"
    return {word: [branches(depth - 1, width)] * width} if depth else {"required": ["missing"]}


TOO_LONG = "validation takes too long and was given up"
SAME_KEY = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]}
WITH_KEY = {**fields(k=STRING, v=STRING), "required": ["k"]}
BOMBS = {
    # 51 seconds and 8 GB, and then an object of 2 GB was stored.
    "defaults for every item": Bomb(
        fields(l=items(fields(**{f"d{n}": {**STRING, "default": "x" * 1000} for n in range(100)}))),
        {"l": [{}] * 20_000},
        413,
        "limit is 3145728",
    ),
    # 34 seconds.
    "alternatives for every item": Bomb(
        fields(l=items({**fields(missing=STRING), **branches(2, 30)})), {"l": [{}] * 5_000}, 422, TOO_LONG
    ),
    # Each error would have listed half a megabyte of choices.
    "choices in every error": Bomb(
        fields(l=items({**STRING, "enum": [f"choice-{n:06}" for n in range(30_000)]})),
        {"l": ["none of them"] * 50_000},
        422,
        TOO_LONG,
    ),
    # 1.7 seconds, again and again.
    "a pattern with many states": Bomb(
        fields(s={**STRING, "pattern": "^(a{0,100}){0,9}b$"}), {"s": "a" * 2_000_000}, 422
    ),
    "a rule whose pattern has many states": Bomb(
        fields([{"rule": "self.s.matches('(a{0,100}){0,9}b')"}], s={**STRING, "maxLength": 200_000}),
        {"s": "a" * 200_000},
        422,
        "failed rule",
    ),
    "a pattern from the object itself": Bomb(
        fields([{"rule": "self.s.matches(self.p)"}], s={**STRING, "maxLength": 20_000}, p={**STRING, "maxLength": 300}),
        {"s": "a" * 20_000, "p": "(a{0,50}){0,19}b"},
        422,
        "failed rule",
    ),
    # 2 seconds for the first object.
    "thousands of rules": Bomb(
        fields([{"rule": f"size(self.s) != {n}"} for n in range(2_000)], s={**STRING, "maxLength": 10_000}),
        {"s": "x" * 10_000},
        201,
    ),
    "rules that see every value in another way": Bomb(
        fields(
            [{"rule": "self.m.all(k, self.m[k].x >= 0)"}],
            m={
                "type": "object",
                "maxProperties": 20_000,
                "additionalProperties": fields(x={"type": "integer"}, n={"type": "integer", "nullable": True}),
            },
        ),
        {"m": {f"k{n}": {"x": 1} for n in range(20_000)}},
        201,
    ),
    "a message for every item": Bomb(
        fields(
            l=items(
                fields(
                    [{"rule": "self.s == ''", "messageExpression": "'no ' + self.s"}], s={**STRING, "maxLength": 99}
                ),
                maxItems=3_000,
            )
        ),
        {"l": [{"s": "a" * 99}] * 3_000},
        422,
        "no aaa",
    ),
    "a rule that costs what it may": Bomb(
        fields([{"rule": "self.l.all(x, self.l.all(y, x + y >= 0))"}], l={**INTEGERS, "maxItems": 400}),
        {"l": [1] * 400},
        422,
        "cost limit exceeded",
    ),
    # One second, because every item of a set has a manager.
    "a large set": Bomb(fields(l={**INTEGERS, "x-kubernetes-list-type": "set"}), {"l": list(range(50_000))}, 201),
    "a large map": Bomb(fields(l=items(WITH_KEY, **SAME_KEY)), {"l": [{"k": f"same-{n}"} for n in range(15_000)]}, 201),
    "one key for all": Bomb(
        fields(l=items(WITH_KEY, **SAME_KEY)), {"l": [{"k": "same"}] * 50_000}, 422, "Duplicate value"
    ),
    "thousands of errors": Bomb(
        fields(**{f"f{n}": STRING for n in range(10_000)}), {f"f{n}": 1 for n in range(10_000)}, 422, "spec.f9999"
    ),
}


@pytest.mark.parametrize("name", BOMBS)
async def test_no_object_keeps_everybody_waiting(api: Api, name: str) -> None:
    schema, spec, wanted, words = BOMBS[name]
    body = orjson.dumps(gadget(spec=spec))
    with taking_no_more_than(MEMORY_MIB_MAX):
        async with asyncio.timeout(ANSWERED_SECONDS_MAX), staying_lively():
            await define(api, definition(version(spec=schema)))
            status, answer = await api.ask("POST", GADGETS, body)
    assert status == wanted, answer["message"][:1000]
    assert words in answer.get("message", "")


@pytest.mark.parametrize("name", ["a large map", "a large set"])
async def test_nor_does_a_change_of_one(api: Api, name: str) -> None:
    """14 seconds: whoever applied a list that was there already had it copied for each of its items."""
    schema, spec, _, _ = BOMBS[name]
    await define(api, definition(version(spec=schema)))
    await api.ok("POST", GADGETS, gadget(spec=spec))
    async with asyncio.timeout(ANSWERED_SECONDS_MAX), staying_lively():
        path, body = f"{GADGETS}/a?fieldManager=me&force=true", gadget(spec=spec)
        await api.ok("PATCH", path, body, content_type=APPLY)
        labels = {"metadata": {"labels": {"a": "b"}}}
        await api.ok("PATCH", f"{GADGETS}/a", labels, content_type="application/merge-patch+json")


def rules(*texts: str) -> Json:
    return fields([{"rule": text} for text in texts], s={**STRING, "maxLength": 10})


DEFINED: dict[str, tuple[Json, int]] = {
    "many fields": (fields(**{f"f{n}": STRING for n in range(40_000)}), 201),
    "many macros": (rules(" && ".join(["[1].all(x, x > 0)"] * 3_000)), 201),
    "many rules": (rules(*(f"size(self.s) != {n}" for n in range(4_000))), 201),
    "deep rules": (rules("(" * 500 + "true" + ")" * 500), 422),
    "deep macros": (rules("".join(f"[1].all(x{n}, " for n in range(200)) + "true" + ")" * 200), 422),
    "deep choices": (rules("true ? " * 1_000 + "true" + " : true" * 1_000), 422),
    "a product of alternatives": ({**fields(missing=STRING), **branches(3, 30)}, 201),
    "long patterns": (fields(**{f"p{n}": {**STRING, "pattern": "(a{0,1000})b?" * 3} for n in range(300)}), 201),
}


@pytest.mark.parametrize("name", DEFINED)
async def test_no_definition_keeps_everybody_waiting(api: Api, name: str) -> None:
    schema, wanted = DEFINED[name]
    body = orjson.dumps(definition(version(spec=schema)))
    async with asyncio.timeout(ANSWERED_SECONDS_MAX), staying_lively():
        status, answer = await api.ask("POST", DEFINITIONS, body)
        assert status == wanted, answer["message"][:1000]
        if status == 201:
            body = orjson.dumps(answer | {"spec": {**answer["spec"], "names": {**answer["spec"]["names"]}}})
            await api.ask("PUT", f"{DEFINITIONS}/gadgets.shop.example.com", body)
            await api.send("POST", GADGETS, gadget(spec={}))


COLUMNS = {
    "every item of every item": ".spec.l[*].m[*].missing",
    "again and again": ".spec" + "[*]" * 50,
    "a filter in a filter": ".spec.l" + "[?(@.m" * 2_000 + ")]" * 2_000,
    "a long way": ".spec" + ".a" * 5_000,
}


@pytest.mark.parametrize("name", COLUMNS)
async def test_no_column_keeps_everybody_waiting(api: Api, name: str) -> None:
    """Half a second for each object of a megabyte, and as long again for each twenty columns."""
    columns = [{"name": f"c{n}", "type": "string", "jsonPath": COLUMNS[name]} for n in range(20)]
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    await define(api, definition(version(spec=anything, additionalPrinterColumns=columns)))
    large = {"l": [{"m": [{"n": n} for n in range(200)]} for _ in range(200)]}
    for number in range(4):
        await api.ok("POST", GADGETS, gadget(f"g{number}", spec=large))
    async with asyncio.timeout(ANSWERED_SECONDS_MAX), staying_lively():
        table = await api.ok("GET", GADGETS, accept="application/json;as=Table;v=v1;g=meta.k8s.io")
    assert len(table["rows"]) == 4


async def test_what_nobody_waits_for_is_given_up(api: Api) -> None:
    """Two of these take all threads there are. When their clients are gone, others get them at once."""
    schema, spec, _, _ = BOMBS["alternatives for every item"]
    await define(api, definition(version(spec=schema)))
    body = orjson.dumps(gadget(spec=spec))
    asking = [asyncio.create_task(api.send("POST", GADGETS, body)) for _ in range(20)]
    await asyncio.wait(asking, timeout=0.05)
    for task in asking:
        task.cancel()
    await asyncio.wait(asking)
    async with asyncio.timeout(ANSWERED_SECONDS_MAX / 3):
        status, _ = await api.ask("POST", GADGETS, gadget(spec={"l": [{}] * 10}))
    assert status == 422
