"""Definitions and objects that were made to hurt: each is answered in no time, and nobody else notices."""

from __future__ import annotations

import asyncio
from typing import Any

import orjson
import pytest

from tests.apiserver.asking import Api
from tests.apiserver.custom.samples import DEFINITIONS, GADGETS, define, definition, gadget, until_gone, version

Json = dict[str, Any]

AT_ONCE_SECONDS = 2.0
BACKTRACKERS = [r"^(a+)+$", r"(a|a)*b", r"^(([a-z])+.)+[A-Z]([a-z])+$", r"(x+x+)+y", "(a?){50}a{50}$", r"^(\w+\s?)*$"]


def nested(levels: int) -> bytes:
    """A definition whose schema has so many schemas inside one another."""
    text = b'{"type":"object","properties":{"a":' * levels + b'{"type":"string"}' + b"}}" * levels
    return orjson.dumps(definition(version() | {"schema": {"openAPIV3Schema": "HERE"}})).replace(b'"HERE"', text)


@pytest.mark.parametrize("levels", [99, 100, 300, 1_000, 10_000])
async def test_a_schema_may_only_be_so_deep(api: Api, levels: int) -> None:
    async with asyncio.timeout(AT_ONCE_SECONDS):
        status, answer = await api.ask("POST", DEFINITIONS, nested(levels))
    if levels < 100:
        assert status == 201
    else:
        assert status in (400, 422)
        assert "deeper than 100 levels" in answer["message"] or "exceeded max depth" in answer["message"]


async def test_the_deepest_schema_there_may_be_works(api: Api) -> None:
    await define(api, orjson.loads(nested(99)))
    value: Any = "x"
    for _ in range(98):
        value = {"a": value}
    await api.ok("POST", GADGETS, gadget(a=value))
    assert (await api.ok("GET", f"{GADGETS}/a"))["a"] == value
    status, refused = await api.ask("POST", GADGETS, gadget("b", a={"a": 5}))
    assert (status, refused["reason"]) == (422, "Invalid")
    await api.ok("GET", "/openapi/v3/apis/shop.example.com/v1")
    await api.ok("GET", "/openapi/v2")


@pytest.mark.parametrize("levels", [500, 5_000])
async def test_what_is_free_may_only_be_so_deep(api: Api, levels: int) -> None:
    await define(api)
    text = orjson.dumps(gadget(spec={"free": {"x": "HERE"}})).replace(b'"HERE"', b"[" * levels + b"]" * levels)
    async with asyncio.timeout(AT_ONCE_SECONDS):
        status, refused = await api.ask("POST", GADGETS, text)
    assert (status, refused["message"].rpartition(": ")[2]) == (400, "exceeded max depth")


@pytest.mark.parametrize("pattern", BACKTRACKERS)
async def test_no_pattern_takes_for_ever(api: Api, pattern: str) -> None:
    spec = {"type": "object", "properties": {"f": {"type": "string", "pattern": pattern}}}
    await define(api, definition(version(spec=spec)))
    async with asyncio.timeout(AT_ONCE_SECONDS):
        status, _ = await api.ask("POST", GADGETS, gadget(spec={"f": "a" * 50_000 + "!"}))
    assert status in (201, 422)


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        (r"(a)\1", r"invalid escape sequence: `\1`"),
        ("(?=a)b", "invalid or unsupported Perl syntax: `(?=`"),
        ("((a{30}){30}){30}", "invalid repeat count: `{30}`"),
        ("a{1000}{1000}", "invalid nested repetition operator: `{1000}{1000}`"),
        ("(", "missing closing ): `(`"),
        ("\\", "trailing backslash at end of expression: ``"),
        (r"\C", r"invalid escape sequence: `\C`"),
    ],
)
async def test_patterns_that_go_refuses_are_refused_in_its_words(api: Api, pattern: str, why: str) -> None:
    spec = {"type": "object", "properties": {"f": {"type": "string", "pattern": pattern}}}
    status, refused = await api.ask("POST", DEFINITIONS, definition(version(spec=spec)))
    assert status == 422
    (cause,) = refused["details"]["causes"]
    assert cause["message"].endswith(f"must be a valid regular expression, but isn't: error parsing regexp: {why}")


async def test_a_long_list_of_choices_is_no_long_wait(api: Api) -> None:
    spec = {"type": "object", "properties": {"f": {"type": "string", "enum": [f"v{n}" for n in range(50_000)]}}}
    await define(api, definition(version(spec=spec)))
    async with asyncio.timeout(AT_ONCE_SECONDS):
        await api.ok("POST", GADGETS, gadget(spec={"f": "v49999"}))
        status, _ = await api.ask("POST", GADGETS, gadget("b", spec={"f": "none of them"}))
    assert status == 422


async def test_logic_does_not_multiply(api: Api) -> None:
    branches = [{"anyOf": [{"oneOf": [{"required": ["a"]}] * 10}] * 10}] * 10
    spec = {"type": "object", "properties": {"a": {"type": "string"}}, "allOf": branches}
    await define(api, definition(version(spec=spec)))
    async with asyncio.timeout(AT_ONCE_SECONDS):
        status, _ = await api.ask("POST", GADGETS, gadget(spec={}))
    assert status == 422


async def test_references_lead_nowhere(api: Api) -> None:
    body = definition()
    schema = body["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    schema["definitions"] = {"x": {"$ref": "#/definitions/x"}}
    schema["properties"]["spec"] = {"$ref": "#/definitions/x"}
    status, refused = await api.ask("POST", DEFINITIONS, body)
    assert status == 422
    assert "$ref is not supported" in refused["message"]


@pytest.mark.parametrize("served", ["v1", "v2"])
async def test_what_is_built_in_cannot_be_taken_over(api: Api, served: str) -> None:
    ingresses = "/apis/networking.k8s.io/v1/namespaces/default/ingresses"
    backend = {"service": {"name": "web", "port": {"number": 80}}}
    await api.ok("POST", ingresses, {"metadata": {"name": "mine"}, "spec": {"defaultBackend": backend}})
    body = definition(version(served), plural="ingresses", kind="Ingress", group="networking.k8s.io")
    body["metadata"]["annotations"] = {"api-approved.kubernetes.io": "unapproved"}
    await define(api, body)
    status, refused = await api.ask("POST", ingresses, {"metadata": {"name": "other"}, "spec": {}})
    assert (status, refused["reason"]) == (422, "Invalid")
    assert (await api.send("GET", ingresses.replace("/v1/", "/v2/"))).status == 404
    await api.ok("DELETE", f"{DEFINITIONS}/ingresses.networking.k8s.io")
    await until_gone(api, f"{DEFINITIONS}/ingresses.networking.k8s.io")
    assert [item["metadata"]["name"] for item in (await api.ok("GET", ingresses))["items"]] == ["mine"]


async def test_one_kinds_list_never_has_anothers_objects(api: Api) -> None:
    await define(api, definition(plural="foo", kind="Foo"))
    await define(api, definition(plural="foobar", kind="FooBar"))
    path = GADGETS.replace("gadgets", "foobar")
    await api.ok("POST", path, gadget(kind="FooBar"))
    assert (await api.ok("GET", GADGETS.replace("gadgets", "foo")))["items"] == []
    assert len((await api.ok("GET", path))["items"]) == 1
