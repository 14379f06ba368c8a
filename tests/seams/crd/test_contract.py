"""What an answer to a conversion must be, in kube-apiserver's words, and what a guest reads of a question."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardpoint.machinery.reviews import BadReview
from hardpoint.machinery.structural import ConversionFailed
from hardpoint.seams.crd import contract
from hardpoint.seams.crd.contract import BadAnswer, Version, answered, asked, converted, request_of, version_among

Json = dict[str, Any]

WANTED = "net.example.com/v2"
METADATA: Json = {"name": "a", "namespace": "default", "uid": "u", "generation": 4, "labels": {"b ad": "before"}}


def original(name: str = "a") -> Json:
    metadata = METADATA | {"name": name}
    return {"apiVersion": "net.example.com/v1", "kind": "Address", "metadata": metadata, "spec": {"hostPort": "h:1"}}


def right(name: str = "a") -> Json:
    return deepcopy(original(name)) | {"apiVersion": WANTED, "spec": {"host": "h"}}


def _meta(**changed: Any) -> Callable[[Json], Any]:
    return lambda obj: obj["metadata"].update(changed)


OBJECTS: list[tuple[str, Callable[[Json], Any], str]] = [
    ("another version", lambda o: o.update(apiVersion="net.example.com/v9"), "returned invalid object at index 0: "
     "invalid groupVersion (expected net.example.com/v2, received net.example.com/v9)"),
    ("no version", lambda o: o.pop("apiVersion"), "returned invalid object at index 0: invalid groupVersion "
     "(expected net.example.com/v2, received )"),
    ("another kind", lambda o: o.update(kind="Xx"), "returned invalid object at index 0: invalid kind "
     "(expected Address, received Xx)"),
    ("no kind", lambda o: o.pop("kind"), "returned invalid object at index 0: Object 'Kind' is missing in what it "
     "returned"),
    ("another name", _meta(name="z"), "returned invalid object: must have the same name: a != z"),
    ("another namespace", _meta(namespace="z"), "returned invalid object: must have the same namespace: default != z"),
    ("another uid", _meta(uid="z"), "returned invalid object: must have the same UID: u != z"),
    ("no metadata", lambda o: o.pop("metadata"), "returned invalid object: must have the same name: a != "),
    ("labels that are a list", _meta(labels=["x"]), "returned invalid metadata: invalid metadata.labels of type "
     "[]interface {} in converted object"),
    ("a label that is a number", _meta(labels={"a": 5}), "returned invalid metadata: metadata.labels[a] must be a "
     "string, but is int64 in converted object"),
]  # fmt: skip


@pytest.mark.parametrize(("twist", "told"), [row[1:] for row in OBJECTS], ids=[row[0] for row in OBJECTS])
def test_an_object_that_is_not_the_same(twist: Callable[[Json], Any], told: str) -> None:
    obj = right()
    twist(obj)
    with pytest.raises(BadAnswer) as caught:
        converted(answered("v1", "u1", [obj]), "v1", "u1", [original()], WANTED)
    assert str(caught.value) == told
    assert caught.value.failure == "invalid_converted_object"


def test_of_several_the_wrong_one_is_named() -> None:
    objects = [right("a"), right("z")]
    with pytest.raises(BadAnswer, match=r"^returned invalid converted object at index 1: must have the same name: b"):
        converted(answered("v1", "u1", objects), "v1", "u1", [original("a"), original("b")], WANTED)


REVIEWS: list[tuple[str, Any, str]] = [
    (
        "nothing",
        {},
        "failed: expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got /, Kind=",
    ),
    ("a list", [], "failed: expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got /, Kind="),
    ("no response", {"response": None}, "failed: no response provided"),
    ("another uid", {"response": {"uid": "x"}}, 'failed: expected response.uid="u1", got "x"'),
    ("no result", {"response": {"uid": "u1"}}, "failed: response.result.status was '', not 'Success'"),
    ("a refusal", {"response": {"uid": "u1", "result": {"status": "Failure", "message": "no way"}}}, "failed: no way"),
    ("no objects", {"response": {"uid": "u1", "result": {"status": "Success"}}}, "returned 0 objects, expected 1"),
]


@pytest.mark.parametrize(("said", "told"), [row[1:] for row in REVIEWS], ids=[row[0] for row in REVIEWS])
def test_a_review_that_is_no_answer(said: Any, told: str) -> None:
    if said:
        said = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview", **said}
    with pytest.raises(BadAnswer) as caught:
        converted(said, "v1", "u1", [original()], WANTED)
    assert str(caught.value) == told


def test_labels_may_change_and_the_rest_of_the_metadata_may_not() -> None:
    obj = right()
    obj["metadata"] |= {"labels": {"new": "label"}, "annotations": {"a": "b"}, "generation": 77, "finalizers": ["x/y"]}
    (found,) = converted(answered("v1", "u1", [obj]), "v1", "u1", [original()], WANTED)
    assert found["metadata"] == METADATA | {"labels": {"new": "label"}, "annotations": {"a": "b"}}
    assert found["spec"] == {"host": "h"}


def test_new_labels_must_be_well_formed_and_old_ones_need_not() -> None:
    (found,) = converted(answered("v1", "u1", [right()]), "v1", "u1", [original()], WANTED)
    assert found["metadata"]["labels"] == {"b ad": "before"}
    obj = right()
    obj["metadata"]["labels"]["more"] = "labels"
    with pytest.raises(BadAnswer, match=r'^returned invalid metadata: metadata\.labels: Invalid value: "b ad"'):
        converted(answered("v1", "u1", [obj]), "v1", "u1", [original()], WANTED)


def test_v1beta1_takes_any_uid_but_no_other_kind() -> None:
    answer: Json = dict(answered("v1beta1", "another", [right()]))
    assert converted(answer, "v1beta1", "u1", [original()], WANTED)
    with pytest.raises(BadAnswer, match=r"got apiextensions\.k8s\.io/v1beta1, Kind=Foo$"):
        converted(answer | {"kind": "Foo"}, "v1beta1", "u1", [original()], WANTED)


@pytest.mark.parametrize(
    ("offered", "chosen"), [(["v1"], "v1"), (["v2", "v1beta1", "v1"], "v1beta1"), (["v1", "v1beta1"], "v1")]
)
def test_the_first_version_both_know(offered: list[str], chosen: Version) -> None:
    assert version_among(offered) == chosen


def test_no_version_both_know() -> None:
    with pytest.raises(ConversionFailed, match=r"^no supported conversion review versions$"):
        version_among(["v7"])


@given(st.sampled_from(contract.VERSIONS), st.text(max_size=8), st.lists(st.just({"kind": "Address"}), max_size=3))
def test_a_guest_reads_what_a_host_asks(version: Version, uid: str, objects: list[Json]) -> None:
    assert request_of(asked(version, uid, objects, WANTED)) == (
        version,
        {"uid": uid, "desiredAPIVersion": WANTED, "objects": objects},
    )


@pytest.mark.parametrize(
    "review",
    [
        None,
        {"kind": "ConversionReview", "apiVersion": "apiextensions.k8s.io/v2"},
        {"kind": "ConversionReview", "apiVersion": "apiextensions.k8s.io/v1"},
        asked("v1", "u", ["text"], WANTED),
        asked("v1", 5, [], WANTED),  # type: ignore[arg-type]
    ],
)
def test_what_is_no_question(review: Any) -> None:
    with pytest.raises(BadReview):
        request_of(review)
