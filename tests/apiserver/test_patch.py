"""Patches that are refused, in kube-apiserver's words."""

from __future__ import annotations

from typing import Any

import pytest

from tests.apiserver.asking import Api

MAPS = "/api/v1/namespaces/default/configmaps"
JSON, MERGE = "application/json-patch+json", "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
NAMELESS = "the name of the object (m based on URL) was undeterminable: name must be provided"


@pytest.fixture
async def one_map(api: Api) -> Api:
    await api.ok("POST", MAPS, {"metadata": {"name": "m"}, "data": {"a": "1"}})
    return api


@pytest.mark.parametrize(
    ("language", "patch", "message"),
    [
        (JSON, {}, "error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp"),
        (JSON, [3], "error decoding patch: json: cannot unmarshal number into Go value of type handlers.jsonPatchOp"),
        (
            JSON,
            [{"op": "add", "path": 3}],
            "error decoding patch: json: cannot unmarshal number into Go struct field jsonPatchOp.path of type string",
        ),
        (MERGE, [], "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}"),
        (STRATEGIC, [], "json: cannot unmarshal array into Go value of type map[string]interface {}"),
        (JSON, [{"op": "remove", "path": "/metadata"}], NAMELESS),
        (MERGE, {"metadata": {"name": None}}, NAMELESS),
    ],
)
async def test_no_patch_at_all(one_map: Api, language: str, patch: Any, message: str) -> None:
    status, refused = await one_map.ask("PATCH", f"{MAPS}/m", patch, content_type=language)
    assert (status, refused["message"]) == (400, message)


@pytest.mark.parametrize("language", [MERGE, STRATEGIC])
async def test_a_result_that_does_not_fit(one_map: Api, language: str) -> None:
    status, refused = await one_map.ask("PATCH", f"{MAPS}/m", {"data": {"a": 3}}, content_type=language)
    assert (status, list(refused["details"])) == (422, ["causes"])
    assert refused["message"].startswith(' "" is invalid: patch: Invalid value: "')
    shown = '"map[data:map[a:3]]"' if language == STRATEGIC else r"\"data\":{\"a\":3}"
    assert shown in refused["message"]


async def test_members_that_mean_nothing(one_map: Api) -> None:
    patch = [{"op": "add", "path": "/data/b", "value": "2", "vaule": "3"}]
    status, refused = await one_map.ask("PATCH", f"{MAPS}/m?fieldValidation=Strict", patch, content_type=JSON)
    assert status == 422
    assert refused["message"].endswith('strict decoding error: json patch unknown field "[0].vaule"')
    answer = await one_map.send("PATCH", f"{MAPS}/m?fieldValidation=Warn", patch, content_type=JSON)
    assert ("Warning", r'299 - "json patch unknown field \"[0].vaule\""') in answer.headers


@pytest.mark.parametrize(
    ("language", "patch"), [(MERGE, {"kind": None}), (STRATEGIC, {"apiVersion": "v2", "kind": "Other"})]
)
async def test_what_it_says_of_the_kind_is_no_matter(one_map: Api, language: str, patch: Any) -> None:
    patched = await one_map.ok("PATCH", f"{MAPS}/m", patch, content_type=language)
    assert (patched["apiVersion"], patched["kind"]) == ("v1", "ConfigMap")


async def test_an_update_without_a_name_changes_nothing(one_map: Api) -> None:
    status, refused = await one_map.ask("PUT", f"{MAPS}/m", {"metadata": {}})
    assert (status, refused["message"]) == (400, NAMELESS)
    assert (await one_map.ok("GET", f"{MAPS}/m"))["data"] == {"a": "1"}


async def test_another_uid_is_a_change_of_what_cannot_change(one_map: Api) -> None:
    status, refused = await one_map.ask("PATCH", f"{MAPS}/m", {"metadata": {"uid": "u"}}, content_type=MERGE)
    assert status == 422
    assert refused["message"] == 'ConfigMap "m" is invalid: metadata.uid: Invalid value: "u": field is immutable'
    assert (await one_map.ask("PUT", f"{MAPS}/m", {"metadata": {"name": "m", "uid": "u"}}))[0] == 409
