"""The kit for definitions passes good ones, and names what is wrong with others by its path."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from copy import deepcopy
from pathlib import Path
from typing import Any

import orjson
import pytest

from hardpoint.cluster import fresh_cluster
from hardpoint.machinery.messages import Request, Response
from hardpoint.seams.crd.check import Subject, promises
from tests.seams.mutants import calling

Json = dict[str, Any]
Edit = Callable[[Json], None]

TEXT: Json = {"type": "string"}


def version(name: str, spec: Json, **more: Any) -> Json:
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": spec}}}
    return {"name": name, "served": True, "storage": name == "v1", "schema": {"openAPIV3Schema": schema}, **more}


def definition(*versions: Json) -> Json:
    names = {"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "things.example.com"},
        "spec": {"group": "example.com", "scope": "Namespaced", "names": names, "versions": list(versions)},
    }


SPEC: Json = {
    "cron": {"type": "string", "pattern": r"^\S+$", "maxLength": 50},
    "replicas": {"type": "integer", "minimum": 1, "maximum": 10, "default": 3},
    "steps": {"type": "array", "maxItems": 5, "items": {"type": "object", "properties": {"run": TEXT}}},
}
GOOD = definition(
    version(
        "v1",
        SPEC,
        additionalPrinterColumns=[{"name": "Cron", "type": "string", "jsonPath": ".spec.cron"}],
        selectableFields=[{"jsonPath": ".spec.cron"}],
    )
)


async def broken(subject: Subject) -> dict[str, str]:
    return {each.promise: each.detail async for each in promises.findings(subject) if each.outcome == "FAIL"}


def edited(edit: Edit) -> Json:
    changed = deepcopy(GOOD)
    edit(changed)
    return changed


def _spec(definition: Json) -> Json:
    found: Json = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    return found


async def test_a_good_definition_breaks_nothing() -> None:
    outcomes = {each.promise: each async for each in promises.findings(Subject([GOOD], fresh_cluster, older=[GOOD]))}
    assert {each.outcome for each in outcomes.values()} == {"ok", "skip"}
    skipped = [each.detail for each in outcomes.values() if each.outcome == "skip"]
    assert set(skipped) == {"there is one version only", "no webhook converts between versions here"}


ACCEPTED = "an API server accepts the definition"
WARNED = "an API server accepts it without a warning"
DECLARED = "every field that is required is declared"
PATHS = "the paths of columns, selectable fields and scale are in the schema"
VALID = "what defaults fill in is as good as what was there: no object becomes invalid"
VERSIONS = "an object of each version is one of every other, too, unless a webhook converts it"
AGAINST = "objects of the earlier release are objects of this one"


def _no_type(changed: Json) -> None:
    del _spec(changed)["properties"]["cron"]["type"]


def _bad_rule(changed: Json) -> None:
    _spec(changed)["x-kubernetes-validations"] = [{"rule": "self.nothing > 1"}]


def _keyless(changed: Json) -> None:
    steps = _spec(changed)["properties"]["steps"]
    steps |= {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["run"]}


def _ghost(changed: Json) -> None:
    _spec(changed)["required"] = ["ghost"]


def _lost_column(changed: Json) -> None:
    changed["spec"]["versions"][0]["additionalPrinterColumns"][0]["jsonPath"] = ".spec.schedule"


def _lost_scale(changed: Json) -> None:
    scale = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}
    changed["spec"]["versions"][0]["subresources"] = {"status": {}, "scale": scale}


def _too_much(changed: Json) -> None:
    _spec(changed)["maxProperties"] = 2


@pytest.mark.parametrize(
    ("edit", "promise", "words"),
    [
        pytest.param(_no_type, ACCEPTED, "properties[cron].type: Required value", id="no type"),
        pytest.param(_bad_rule, ACCEPTED, "undefined field 'nothing'", id="a rule about nothing"),
        pytest.param(_keyless, ACCEPTED, "items.properties[run].default", id="keys that may be absent"),
        pytest.param(_ghost, DECLARED, "things.example.com v1: .spec.ghost is required", id="required, not declared"),
        pytest.param(_lost_column, PATHS, "column 'Cron' .spec.schedule", id="column of nothing"),
        pytest.param(_lost_scale, PATHS, "scale's statusReplicasPath .status.replicas", id="scale of nothing"),
        pytest.param(_too_much, VALID, "must have at most 2 items", id="a default too many"),
    ],
)
async def test_what_is_wrong_is_found_and_named(edit: Edit, promise: str, words: str) -> None:
    found = await broken(Subject([edited(edit)], fresh_cluster))
    assert words in found[promise], found


async def test_a_warning_is_told() -> None:
    warned = edited(lambda changed: _spec(changed)["properties"]["cron"].update(format="no-such-format"))
    found = await broken(Subject([warned], fresh_cluster))
    assert 'unrecognized format "no-such-format"' in found[WARNED]


async def test_rules_about_what_has_no_limit_are_remarked_on() -> None:
    def rule(changed: Json) -> None:
        _spec(changed)["x-kubernetes-validations"] = [{"rule": "!has(self.name) || self.name != 'x'"}]
        _spec(changed)["properties"] |= {"name": TEXT, "other": TEXT}

    found = await promises.finding("what rules look at is bounded", Subject([edited(rule)], fresh_cluster))
    assert (found.outcome, found.detail) == ("ok", "give limits to things.example.com v1: .spec.name (maxLength)")


async def test_versions_that_differ_are_told_in_both_directions() -> None:
    two = definition(version("v1", SPEC), version("v1beta1", {**SPEC, "cron": TEXT, "old": TEXT}))
    found = (await broken(Subject([two], fresh_cluster)))[VERSIONS]
    assert "things.example.com v1beta1 to v1: .spec.old is gone" in found
    assert 'things.example.com v1beta1 to v1: .spec.cron must match "^\\\\S+$" now' in found


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (lambda new: _spec(new).update(required=["cron"]), "things.example.com v1: .spec.cron is required now"),
        (lambda new: _spec(new)["properties"].pop("steps"), ".spec.steps is gone: what objects say there is dropped"),
        (lambda new: new["spec"].update(scope="Cluster"), "spec.scope was Namespaced and is Cluster"),
        (lambda new: new["spec"]["versions"][0].update(name="v2"), "things.example.com v1 is gone: objects are stored"),
        (lambda new: new["spec"]["versions"][0].update(served=False), "v1 is not served any more"),
        (lambda new: new["metadata"].update(name="others.example.com"), "is gone, and its objects with it"),
    ],
)
async def test_what_an_earlier_release_allowed_is_still_allowed(edit: Edit, words: str) -> None:
    found = await promises.finding(AGAINST, Subject([edited(edit)], fresh_cluster, older=[GOOD]))
    assert words in found.detail


V1: Json = {"host": {"type": "string", "maxLength": 20}, "port": {"type": "integer"}}
V2: Json = {"target": {"type": "object", "properties": V1}}
BOTH = definition(version("v1", V1), version("v2", V2))


def convert(obj: Json, to: str) -> Json:
    """v1 has host and port in its spec, v2 below a target."""
    if obj["apiVersion"] == to:
        return obj
    spec = obj["spec"]
    return {**obj, "apiVersion": to, "spec": {"target": spec} if to.endswith("/v2") else spec.get("target") or {}}


def losing_the_port(objects: Sequence[Json], to: str) -> list[Json]:
    found = [convert(each, to) for each in objects]
    for each in found:
        each["spec"] = orjson.loads(orjson.dumps(each["spec"]).replace(b'"port"', b'"harbour"'))
    return found


def renaming(objects: Sequence[Json], to: str) -> list[Json]:
    return [{**convert(each, to), "metadata": {**each["metadata"], "name": "other"}} for each in objects]


def dropping_labels(objects: Sequence[Json], to: str) -> list[Json]:
    return [{**convert(each, to), "metadata": {**each["metadata"], "labels": {}}} for each in objects]


def touching_finalizers(objects: Sequence[Json], to: str) -> list[Json]:
    return [{**convert(each, to), "metadata": {**each["metadata"], "finalizers": []}} for each in objects]


def in_another_order(objects: Sequence[Json], to: str) -> list[Json]:
    return [convert(each, to) for each in reversed(objects)]


def forgetting_one(objects: Sequence[Json], to: str) -> list[Json]:
    return [convert(each, to) for each in objects[1:]]


def well(objects: Sequence[Json], to: str) -> list[Json]:
    return [convert(each, to) for each in objects]


@asynccontextmanager
async def subject(converting: Callable[[Sequence[Json], str], list[Json]], folder: Path) -> AsyncIterator[Subject]:
    async def handle(request: Request) -> Response:
        review = orjson.loads(request.body)
        objects = converting(review["request"]["objects"], review["request"]["desiredAPIVersion"])
        response = {"uid": review["request"]["uid"], "convertedObjects": objects, "result": {"status": "Success"}}
        return Response(200, orjson.dumps({**review, "request": None, "response": response}))

    webhook = {"clientConfig": {"url": "https://127.0.0.1:1/convert"}, "conversionReviewVersions": ["v1"]}
    converted = deepcopy(BOTH)
    converted["spec"]["conversion"] = {"strategy": "Webhook", "webhook": webhook}
    async with calling(handle, folder, "/convert", {}) as caller:
        yield Subject([converted], fresh_cluster, webhook=caller)


async def test_a_good_converter_breaks_nothing(tmp_path: Path) -> None:
    async with subject(well, tmp_path) as good:
        assert await broken(good) == {}


ROUND_TRIP = "there and back again an object is what it was"
METADATA = "metadata stays as it is; labels and annotations may be added"
ORDER = "the objects of a batch come back in their order, as each comes back alone, and none from none"


@pytest.mark.parametrize(
    ("converting", "promise", "words"),
    [
        pytest.param(losing_the_port, ROUND_TRIP, ".spec.port was", id="loses a field"),
        pytest.param(renaming, METADATA, "must have the same name", id="renames"),
        pytest.param(dropping_labels, METADATA, '.metadata.labels.kept was "yes" and is null', id="drops labels"),
        pytest.param(touching_finalizers, METADATA, ".metadata.finalizers was", id="drops finalizers"),
        pytest.param(in_another_order, ORDER, "must have the same name", id="another order"),
        pytest.param(forgetting_one, ORDER, "returned 9 objects, expected 10", id="forgets one"),
    ],
)
async def test_a_converter_that_is_wrong_is_found(
    tmp_path: Path, converting: Callable[[Sequence[Json], str], list[Json]], promise: str, words: str
) -> None:
    async with subject(converting, tmp_path) as bad:
        found = await promises.finding(promise, bad)
    assert (found.outcome, words in found.detail) == ("FAIL", True), found
