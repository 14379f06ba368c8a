"""Lists that are sets or maps: their order means nothing to `==`, and `+` keeps them sets and maps."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardpoint.machinery import cel

PORT = cel.object_of("Port", {"name": cel.STRING, "port": cel.INT, "tags": cel.set_list_of(cel.STRING)})
SPEC = cel.object_of(
    "Spec",
    {
        "tags": cel.set_list_of(cel.STRING),
        "plain": cel.list_of(cel.STRING),
        "ports": cel.map_list_of(PORT, ["name"]),
        "pairs": cel.map_list_of(PORT, ["name", "port"]),
        "byName": cel.map_of(cel.STRING, cel.set_list_of(cel.INT)),
        "nested": cel.list_of(cel.set_list_of(cel.INT)),
    },
)
A1, A2, B1 = {"name": "a", "port": 1}, {"name": "a", "port": 2}, {"name": "b", "port": 1}
OLD: dict[str, Any] = {
    "tags": ["x", "y"],
    "plain": ["x", "y"],
    "ports": [A1, B1],
    "pairs": [A1, A2],
    "byName": {"k": [1, 2]},
    "nested": [[1, 2], [3]],
}


# kube-apiserver's validator was asked each of these.
@pytest.mark.parametrize(
    ("expression", "changes", "value"),
    [
        ("self.tags == oldSelf.tags", {"tags": ["y", "x"]}, True),
        ("self.tags != oldSelf.tags", {"tags": ["y", "x"]}, False),
        ("self.tags == oldSelf.tags", {"tags": ["y", "z"]}, False),
        ("self.tags == oldSelf.tags", {"tags": ["y"]}, False),
        ("self.plain == oldSelf.plain", {"plain": ["y", "x"]}, False),
        ("self.tags == ['y', 'x']", {}, True),
        ("['y', 'x'] == self.tags", {}, False),
        ("self.ports == oldSelf.ports", {"ports": [B1, A1]}, True),
        ("self.ports == oldSelf.ports", {"ports": [B1, A2]}, False),
        ("self.ports == oldSelf.ports", {"ports": [A1, A1]}, False),
        ("self.pairs == oldSelf.pairs", {"pairs": [A2, A1]}, True),
        ("self.pairs == oldSelf.pairs", {"pairs": [A2, B1]}, False),
        ("self.byName == oldSelf.byName", {"byName": {"k": [2, 1]}}, True),
        ("self.nested == oldSelf.nested", {"nested": [[2, 1], [3]]}, True),
        ("self.nested == oldSelf.nested", {"nested": [[3], [1, 2]]}, False),
        ("self == oldSelf", {"tags": ["y", "x"], "ports": [B1, A1]}, True),
        ("self == oldSelf", {"plain": ["y", "x"]}, False),
        ("self.tags + ['y', 'z'] == ['x', 'y', 'z']", {}, True),
        ("(self.tags + ['z']) == ['z', 'y', 'x']", {}, True),
        ("(['z'] + self.tags) == ['z', 'y', 'x']", {}, False),
        ("(self.tags + ['y']).size() == 2", {}, True),
        ("(self.ports + oldSelf.ports).size() == 2", {"ports": [A2]}, True),
        ("(self.ports + oldSelf.ports)[0].port == 1", {"ports": [A2]}, True),
        ("self.tags.map(t, t) == ['y', 'x']", {}, False),
    ],
)
def test_the_left_side_decides(expression: str, changes: dict[str, Any], value: bool) -> None:
    program = cel.compile(expression, {"self": SPEC, "oldSelf": SPEC})
    assert program.evaluate({"self": {**OLD, **changes}, "oldSelf": OLD}) is value


def test_sets_within_items_are_sets_too() -> None:
    program = cel.compile("self.ports == oldSelf.ports", {"self": SPEC, "oldSelf": SPEC})
    one, other = {**A1, "tags": ["x", "y"]}, {**A1, "tags": ["y", "x"]}
    assert program.evaluate({"self": {"ports": [B1, one]}, "oldSelf": {"ports": [other, B1]}}) is True


def test_types_that_differ_in_order_alone_have_programs_of_their_own() -> None:
    values = {"self": ["a", "b"], "oldSelf": ["b", "a"]}
    for type, value in ((cel.list_of(cel.STRING), False), (cel.set_list_of(cel.STRING), True)):
        assert cel.compile("self == oldSelf", {"self": type, "oldSelf": type}).evaluate(values) is value


@given(st.lists(st.integers(0, 5), unique=True), st.randoms())
def test_no_order_matters(items: list[int], random: Any) -> None:
    shuffled = items[:]
    random.shuffle(shuffled)
    type = cel.set_list_of(cel.INT)
    assert cel.compile("a == b && a + b == b", {"a": type, "b": type}).evaluate({"a": items, "b": shuffled}) is True
