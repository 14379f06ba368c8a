"""Views: a JSON object with attributes, nothing lost, nothing copied."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardpoint.machinery.views import View


class Leaf(View):
    name: str


class Tree(View):
    text: str
    number: int
    flag: bool
    texts: list[str]
    table: dict[str, str]
    leaf: Leaf
    maybe: Leaf | None
    leaves: list[Leaf]
    anything: Any
    choice: Literal["a", "b"]


def test_declared_fields_are_there() -> None:
    json = {"text": "a", "number": 1, "flag": True, "texts": ["b"], "table": {"c": "d"}, "leaf": {"name": "e"}}
    tree = Tree({**json, "maybe": {"name": "f"}, "leaves": [{"name": "g"}], "anything": [1]})
    assert (tree.text, tree.number, tree.flag, tree.texts, tree.table) == ("a", 1, True, ["b"], {"c": "d"})
    assert tree.maybe is not None
    assert (tree.leaf.name, tree.maybe.name, tree.leaves[0].name, tree.anything) == ("e", "f", "g", [1])


@pytest.mark.parametrize("json", [{}, dict.fromkeys(Tree.__annotations__)], ids=["absent", "null"])
def test_absent_fields_read_as_in_go(json: dict[str, Any]) -> None:
    tree = Tree(json)
    assert (tree.text, tree.number, tree.flag, tree.texts, tree.table, tree.leaves) == ("", 0, False, [], {}, [])
    assert tree.leaf.name == ""
    assert tree.choice == ""
    assert tree.maybe is None
    assert tree.anything is None


def test_fields_nobody_declared_stay_and_others_are_errors() -> None:
    tree = Tree({"fromTheFuture": {"a": 1}})
    assert tree.fromTheFuture == {"a": 1}
    with pytest.raises(AttributeError, match="Tree has no field 'tekst'"):
        _ = tree.tekst


@given(st.dictionaries(st.text(), st.none() | st.text() | st.integers() | st.lists(st.text())))
def test_the_object_is_the_one_it_was_made_from(json: dict[str, Any]) -> None:
    assert Tree(json).json is json
