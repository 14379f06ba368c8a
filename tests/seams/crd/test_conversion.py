"""The conversion guest by itself: ways over other versions, whole batches, and failures that name the object."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from hardpoint.crd import Resource
from hardpoint.machinery.errors import ApiError
from hardpoint.seams.crd.contract import asked, converted
from hardpoint.seams.crd.guest.conversion import ConversionGuest

Json = dict[str, Any]
GROUP = "example.com"


class Version(Resource):
    """A version that keeps the way an object came."""

    class Spec(BaseModel):
        way: list[str] = []

    spec: Spec
    kind = "Thing"


def version(name: str) -> type[Version]:
    return type(name.upper(), (Version,), {"api_version": f"{GROUP}/{name}", "__module__": __name__})


def guest(*steps: str) -> tuple[ConversionGuest, dict[str, type[Version]]]:
    """A guest with a function for each of `a>b`."""
    made = ConversionGuest(path="/convert")
    versions = {name: version(name) for name in sorted({end for step in steps for end in step.split(">")})}
    for step in steps:
        source, target = step.split(">")

        def function(found: Version, target: type[Version] = versions[target], step: str = step) -> Version:
            if found.metadata.name == "bad":
                raise RuntimeError("hunter2")
            if found.metadata.name == "odd":
                return found
            return target(spec=target.Spec(way=[*found.spec.way, step]))

        made.add(function, versions[source], versions[target])
    return made, versions


def thing(version: str, name: str = "x", **metadata: Any) -> Json:
    said = {"name": name, "namespace": "ns", "uid": f"uid-{name}", **metadata}
    return {"apiVersion": f"{GROUP}/{version}", "kind": "Thing", "metadata": said, "spec": {"way": []}}


def review(objects: list[Json], target: str) -> Json:
    return dict(asked("v1", "u", objects, f"{GROUP}/{target}"))


@pytest.mark.parametrize(
    ("steps", "source", "target", "way"),
    [
        (["v1>v2", "v2>v1"], "v1", "v2", ["v1>v2"]),
        (["v1>v2", "v2>v1"], "v1", "v1", []),
        (["v1>hub", "hub>v2", "v2>hub", "hub>v1"], "v1", "v2", ["v1>hub", "hub>v2"]),
        (["v1>hub", "hub>v2", "v1>v2"], "v1", "v2", ["v1>v2"]),
        (["v1>v2", "v2>v3", "v3>v4"], "v1", "v4", ["v1>v2", "v2>v3", "v3>v4"]),
    ],
)
async def test_the_shortest_way_is_taken(steps: list[str], source: str, target: str, way: list[str]) -> None:
    made, _ = guest(*steps)
    original = thing(source, labels={"a": "b"})
    answer = await made.answer(review([copy.deepcopy(original)], target))
    (found,) = converted(answer, "v1", "u", [original], f"{GROUP}/{target}")
    assert found["spec"].get("way", []) == way
    assert found["metadata"] == original["metadata"]


@settings(deadline=None)
@given(st.lists(st.sampled_from(["v1", "v2", "hub"]), max_size=12), st.sampled_from(["v1", "v2", "hub"]))
async def test_a_batch_comes_back_whole_and_in_order(versions: list[str], target: str) -> None:
    made, _ = guest("v1>hub", "hub>v1", "v2>hub", "hub>v2")
    originals = [thing(version, f"x{number}") for number, version in enumerate(versions)]
    answer = await made.answer(review(copy.deepcopy(originals), target))
    found = converted(answer, "v1", "u", originals, f"{GROUP}/{target}")
    assert [each["metadata"]["name"] for each in found] == [f"x{number}" for number in range(len(versions))]


@pytest.mark.parametrize(
    ("objects", "target", "message"),
    [
        pytest.param([thing("v1"), thing("v1", "bad")], "v2", "failed on Thing ns/bad; its log says why", id="raises"),
        pytest.param([thing("v1"), thing("v1", "odd")], "v2", "returned no V2 for Thing ns/odd", id="wrong class"),
        pytest.param(
            [thing("v1")], "v9", "nothing here converts Thing from example.com/v1 to example.com/v9", id="no way"
        ),
        pytest.param([thing("v2")], "v1", "nothing here converts Thing from example.com/v2", id="no way back"),
        pytest.param(
            [{**thing("v1"), "spec": {"way": "x"}}], "v2", "does not fit example.com/v1: Thing: spec.way: ", id="unfit"
        ),
        pytest.param([{}], "v2", "nothing here converts  from  to example.com/v2", id="no object at all"),
    ],
)
async def test_a_failure_is_an_answer_that_names_the_object(objects: list[Json], target: str, message: str) -> None:
    made, _ = guest("v1>v2")
    response = (await made.answer(review(copy.deepcopy(objects), target)))["response"]
    assert response["uid"] == "u"
    assert response["result"]["status"] == "Failure"
    assert message in response["result"]["message"]
    assert "hunter2" not in response["result"]["message"]
    assert "convertedObjects" not in response


@pytest.mark.parametrize("body", [{}, {"apiVersion": "v1", "kind": "Pod"}, {**review([], "v1"), "request": None}])
async def test_what_is_no_review_is_refused(body: Json) -> None:
    made, _ = guest("v1>v2")
    with pytest.raises(ApiError) as refused:
        await made.answer(body)
    assert refused.value.code == 400


async def test_labels_and_annotations_may_change_and_nothing_else_of_the_metadata() -> None:
    made, versions = guest("v1>v2")

    async def relabel(found: Version) -> Version:
        return versions["v1"]("another", namespace="else", labels={"new": "label"}, spec=found.spec)

    made.add(relabel, versions["v2"], versions["v1"])
    original = thing("v2", labels={"old": "label"}, annotations={"kept": "yes"})
    answer = await made.answer(review([copy.deepcopy(original)], "v1"))
    (found,) = converted(answer, "v1", "u", [original], f"{GROUP}/v1")
    assert found["metadata"] == {**original["metadata"], "labels": {"new": "label"}}
