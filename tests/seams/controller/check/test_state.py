"""Two worlds are alike if they differ in nothing but what is new in each."""

from __future__ import annotations

from typing import Any

import pytest

from hardpoint.seams.controller.check.state import CHECK_PREFIX, Expected, state_of

Json = dict[str, Any]


def obj(name: str = "a", *, uid: str = "u1", data: Json | None = None, **metadata: Any) -> Json:
    own = {"name": name, "namespace": "default", "uid": uid, "resourceVersion": "1", **metadata}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": own, "data": data or {}}


def differences(one: list[Json], other: list[Json]) -> list[str]:
    state = state_of(one)
    return [str(each) for each in Expected(state).differences(state_of(other))]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param([obj(uid="u1")], [obj(uid="u2", resourceVersion="7", generation=3)], id="identity"),
        pytest.param(
            [obj(uid="u1", data={"at": "2026-01-02T03:04:05Z"})],
            [obj(uid="u2", data={"at": "2026-11-12T13:14:15.123456+01:00"})],
            id="times",
        ),
        pytest.param(
            [obj(uid="u1"), obj("b", uid="u2", data={"of": "u1"})],
            [obj(uid="u3"), obj("b", uid="u4", data={"of": "u3"})],
            id="references by uid",
        ),
        pytest.param(
            [obj("g-x1", uid="u1", generateName="g-"), obj("b", uid="u2", data={"made": "g-x1"})],
            [obj("g-z9", uid="u3", generateName="g-"), obj("b", uid="u4", data={"made": "g-z9"})],
            id="chosen names",
        ),
        pytest.param([obj()], [obj(annotations={f"{CHECK_PREFIX}x": "1"})], id="marks of the check"),
        pytest.param(
            [obj(annotations={"last": '{"metadata":{"name":"a"}}'})],
            [obj(annotations={"last": f'{{"metadata":{{"annotations":{{"{CHECK_PREFIX}x":"1"}},"name":"a"}}}}'})],
            id="marks of the check in texts",
        ),
        pytest.param([obj()], [obj(), obj("kube-root-ca.crt", uid="u9")], id="what every namespace has"),
    ],
)
def test_what_is_new_in_each_world_does_not_count(one: list[Json], other: list[Json]) -> None:
    assert differences(one, other) == []
    assert differences(other, one) == []


@pytest.mark.parametrize(
    ("one", "other", "told"),
    [
        ([obj()], [], "ConfigMap default/a: is missing"),
        ([], [obj()], "ConfigMap default/a: should not be there"),
        ([obj(data={"k": "1"})], [obj(data={"k": "2"})], 'ConfigMap default/a: .data.k is "2", undisturbed it is "1"'),
        ([obj(data={"k": "1"})], [obj()], 'ConfigMap default/a: .data.k is absent, undisturbed it is "1"'),
        (
            [obj("g-1", generateName="g-")],
            [obj("g-2", generateName="g-"), obj("g-3", uid="u2", generateName="g-")],
            "ConfigMap default/g-*: is there 2 times, undisturbed 1",
        ),
    ],
)
def test_what_differs_is_named(one: list[Json], other: list[Json], told: str) -> None:
    assert differences(one, other) == [told]


def test_what_differs_between_undisturbed_runs_is_not_looked_at() -> None:
    runs = [state_of([obj(data={"password": secret, "k": "1"})]) for secret in ("x", "y")]
    expected = Expected.of(*runs)
    assert not list(expected.differences(state_of([obj(data={"password": "z", "k": "1"})])))
    assert list(expected.differences(state_of([obj(data={"password": "z", "k": "2"})])))


def test_of_kinds_with_names_of_their_own_making_the_number_counts() -> None:
    expected = Expected.of(state_of([obj("one")]), state_of([obj("two")]))
    assert not list(expected.differences(state_of([obj("three")])))
    (difference,) = expected.differences(state_of([obj("three"), obj("four", uid="u2")]))
    assert difference.words == "is there 2 times, undisturbed 1"


def test_more_than_expected_can_be_let_pass() -> None:
    expected = Expected(state_of([obj()]))
    found = state_of([obj(), obj("b", uid="u2")])
    assert list(expected.differences(found))
    assert not list(expected.differences(found, with_more=True))
    assert list(expected.differences(state_of([obj("b")]), with_more=True))
