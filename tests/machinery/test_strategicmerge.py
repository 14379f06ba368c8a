from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardpoint.machinery import strategicmerge
from hardpoint.machinery.shapes import shape
from hardpoint.machinery.strategicmerge import BadPatch, merge

_shapes_will_do: type[strategicmerge.Schema] = type(shape("v1", "Pod"))


@dataclass
class Part:
    """A field as the merge sees it."""

    patch_strategy: str = ""
    merge_key: str = ""
    is_list: bool = False
    is_map: bool = False
    element: Type | None = None


@dataclass
class Type:
    name: str
    fields: Mapping[str, Part] = field(default_factory=dict)


ITEM = Type("api.Item")
ITEM.fields = {
    "name": Part(),
    "value": Part(),
    "tags": Part("merge", is_list=True),
    "parts": Part("merge", "name", is_list=True, element=ITEM),
}
THING = Type(
    "api.Thing",
    {
        "merged": Part("merge", "name", is_list=True, element=ITEM),
        "replaced": Part(is_list=True, element=ITEM),
        "tags": Part("merge", is_list=True),
        "labels": Part(is_map=True),
        "object": Part(element=ITEM),
        "atomic": Part("replace", element=ITEM),
        "union": Part("retainKeys", element=ITEM),
        "keyless": Part("merge", is_list=True, element=ITEM),
    },
)
_types_will_do: type[strategicmerge.Schema] = Type


def items(*names: str, **values: Any) -> list[dict[str, Any]]:
    return [{"name": name, **values} for name in names]


@pytest.mark.parametrize(
    ("original", "patch", "result"),
    [
        pytest.param({"labels": {"a": "1"}}, {"labels": {"b": "2"}}, {"labels": {"a": "1", "b": "2"}}, id="maps merge"),
        pytest.param({"labels": {"a": "1"}}, {"labels": {"a": None}}, {"labels": {}}, id="null deletes"),
        pytest.param(
            {}, {"labels": {"a": None, "b": "1"}}, {"labels": {"b": "1"}}, id="null in something new vanishes"
        ),
        pytest.param({"object": {"value": 1}}, {"object": None}, {}, id="null deletes an object"),
        pytest.param(
            {"object": {"value": 1, "name": "a"}},
            {"object": {"$patch": "replace", "value": 2}},
            {"object": {"value": 2}},
            id="a map is replaced",
        ),
        pytest.param({"object": {"value": 1}}, {"object": {"$patch": "delete"}}, {"object": {}}, id="a map is emptied"),
        pytest.param({}, {"object": {"$patch": "delete"}}, {}, id="what is not there is not deleted"),
        pytest.param({"object": 1}, {"object": {"value": 2}}, {"object": {"value": 2}}, id="another type replaces"),
        pytest.param(
            {"atomic": {"name": "a", "value": 1}},
            {"atomic": {"value": 2}},
            {"atomic": {"value": 2}},
            id="strategy replace",
        ),
        pytest.param(
            {"merged": items("a", "b", value=1)},
            {"merged": items("b", value=2)},
            {"merged": [{"name": "a", "value": 1}, {"name": "b", "value": 2}]},
            id="an element is found by its key",
        ),
        pytest.param(
            {"merged": items("a", "b")},
            {"merged": items("c")},
            {"merged": items("c", "a", "b")},
            id="what is new comes first",
        ),
        pytest.param(
            {"merged": items("a", "b", "c")},
            {"merged": [{"name": "b", "$patch": "delete"}]},
            {"merged": items("a", "c")},
            id="an element is deleted",
        ),
        pytest.param(
            {"merged": items("a", "b")},
            {"merged": [{"$patch": "replace"}, *items("c")]},
            {"merged": items("c")},
            id="a list is replaced",
        ),
        pytest.param(
            {"merged": items("a", "b")},
            {"merged": [{"$patch": "replace"}]},
            {"merged": []},
            id="a list is emptied",
        ),
        pytest.param(
            {"replaced": items("a", "b")}, {"replaced": items("c")}, {"replaced": items("c")}, id="no strategy replaces"
        ),
        pytest.param(
            {"merged": [{"name": "a", "parts": items("x", "y")}]},
            {"merged": [{"name": "a", "parts": [{"name": "x", "$patch": "delete"}]}]},
            {"merged": [{"name": "a", "parts": items("y")}]},
            id="lists inside lists",
        ),
        pytest.param({"tags": ["a", "b"]}, {"tags": ["c", "a"]}, {"tags": ["c", "a", "b"]}, id="scalars merge"),
        pytest.param(
            {"tags": ["a", "b", "a"]},
            {"$deleteFromPrimitiveList/tags": ["a"]},
            {"tags": ["b"]},
            id="scalars are deleted",
        ),
        pytest.param({}, {"$deleteFromPrimitiveList/tags": ["a"]}, {}, id="from a list that is not there"),
        pytest.param(
            {"tags": ["a", "b", "c"]},
            {"$setElementOrder/tags": ["c", "a", "b"]},
            {"tags": ["c", "a", "b"]},
            id="scalars are put in order",
        ),
        pytest.param(
            {"merged": items("a", "b", "c")},
            {"$setElementOrder/merged": items("c", "a"), "merged": items("c", value=1)},
            {"merged": [{"name": "b"}, {"name": "c", "value": 1}, {"name": "a"}]},
            id="elements are put in order",
        ),
        pytest.param(
            {"merged": items("a", "z")},
            {"$setElementOrder/merged": items("z", "b", "a"), "merged": items("b")},
            {"merged": items("z", "b", "a")},
            id="and new ones among them",
        ),
        pytest.param(
            {},
            {"$setElementOrder/merged": items("b", "a"), "merged": items("b", "a")},
            {"merged": items("b", "a")},
            id="in a new list",
        ),
        pytest.param({}, {"$setElementOrder/merged": items("b", "a")}, {}, id="an order of nothing"),
        pytest.param(
            {"union": {"name": "a", "value": 1}},
            {"union": {"$retainKeys": ["value"], "value": 2}},
            {"union": {"value": 2}},
            id="only retained keys stay",
        ),
        pytest.param(
            {"union": {"name": "a", "value": 1}},
            {"union": {"$retainKeys": ["value"], "name": None}},
            {"union": {"value": 1}},
            id="a null needs no retaining",
        ),
        pytest.param({"merged": items("a")}, {"$patch": "delete"}, {}, id="everything is deleted"),
        pytest.param({"merged": items("a")}, {"$patch": "replace", "x": 1}, {"x": 1}, id="everything is replaced"),
    ],
)
def test_merge(original: dict[str, Any], patch: dict[str, Any], result: dict[str, Any]) -> None:
    assert merge(original, patch, THING) == result


@pytest.mark.parametrize(
    ("original", "patch", "message"),
    [
        ({}, {"$patch": "merge"}, "unknown patch type: merge in map: map[$patch:merge]"),
        (
            {"merged": items("a")},
            {"merged": [{"name": "a", "$patch": "merge"}]},
            "merging lists cannot yet be specified in the patch",
        ),
        (
            {"merged": items("a")},
            {"merged": [{"name": "a", "$patch": "bend"}]},
            "unknown patch type: bend in map: map[$patch:bend name:a]",
        ),
        (
            {"merged": items("a")},
            {"merged": [{"value": 1}]},
            "map: map[value:1] does not contain declared merge key: name",
        ),
        (
            {"merged": items("a")},
            {"merged": [{"$patch": "delete"}]},
            "map: map[$patch:delete] does not contain declared merge key: name",
        ),
        (
            {"merged": items("a")},
            {"merged": ["a"]},
            "list element types are not identical: [[map[name:a]] [a]]",
        ),
        ({"tags": [["a"]]}, {"tags": [["b"]]}, "lists of lists are not supported"),
        ({"keyless": items("a")}, {"keyless": items("b")}, "cannot merge lists without merge key for struct"),
        ({"object": {}}, {"object": {"$retainKeys": "value"}}, "invalid patch format of retainKeys"),
        ({"object": {}}, {"object": {"$retainKeys": ["value"], "name": 1}}, "invalid patch format of retainKeys"),
        ({}, {"$setElementOrder": ["a"]}, "invalid patch format of setElementOrder list"),
        ({}, {"$setElementOrderX/tags": ["a"]}, "invalid patch format of setElementOrder list"),
        ({}, {"$deleteFromPrimitiveList": ["a"]}, "invalid patch format of primitive list"),
        ({}, {"$setElementOrder/tags": "a"}, "expected a []interface {}, but received a string"),
        (
            {"tags": {}},
            {"$setElementOrder/tags": ["a"]},
            "expected a []interface {}, but received a map[string]interface {}",
        ),
        (
            {},
            {"$setElementOrder/tags": ["a"], "tags": ["b"]},
            "The order in patch list:\n[b]\n doesn't match $setElementOrder list:\n[a]\n",
        ),
        ({"what": {}}, {"what": {}}, 'unable to find api field in struct Thing for the json field "what"'),
        (
            {"labels": {"a": {}}},
            {"labels": {"a": {}}},
            "merging an object in json but data type is not struct, instead is: map",
        ),
        ({"object": []}, {"object": []}, "expected slice or array type, but got: struct"),
    ],
)
def test_patches_that_make_no_sense(original: dict[str, Any], patch: dict[str, Any], message: str) -> None:
    with pytest.raises(BadPatch) as refused:
        merge(original, patch, THING)
    assert str(refused.value) == message


def test_keys_that_are_no_scalars_are_refused() -> None:
    with pytest.raises(BadPatch, match="not a scalar"):
        merge({"merged": items("a")}, {"merged": [{"name": {}}]}, THING)


def test_too_deep_a_patch_is_refused() -> None:
    deep: Any = 1
    for _ in range(20_000):
        deep = {"a": deep}
    with pytest.raises(BadPatch, match="exceeded max depth"):
        merge({}, {"labels": deep}, THING)


names = st.lists(st.sampled_from("abcdef"), unique=True, max_size=5)
elements = names.map(lambda chosen: [{"name": name, "value": len(chosen), "tags": [name]} for name in chosen])
things = st.fixed_dictionaries(
    {"merged": elements, "tags": names, "labels": st.dictionaries(st.sampled_from("abc"), st.sampled_from("xy"))}
)


@given(things, things)
def test_merging_changes_nothing_but_the_result(original: dict[str, Any], patch: dict[str, Any]) -> None:
    before = copy.deepcopy((original, patch))
    merge(original, patch, THING)
    assert (original, patch) == before


@given(elements, elements)
def test_merging_twice_is_merging_once(original: list[Any], patch: list[Any]) -> None:
    once = merge({"merged": original}, {"merged": patch}, THING)
    assert merge(once, {"merged": patch}, THING) == once


@given(elements, elements)
def test_nothing_is_lost_and_the_patchs_order_is_kept(original: list[Any], patch: list[Any]) -> None:
    merged = [each["name"] for each in merge({"merged": original}, {"merged": patch}, THING)["merged"]]
    wanted = [each["name"] for each in patch]
    before = [each["name"] for each in original]
    assert sorted(merged) == sorted(set(wanted) | set(before))
    assert [name for name in merged if name in wanted] == wanted
    assert [name for name in merged if name not in wanted] == [name for name in before if name not in wanted]


@given(elements, st.permutations("abcdef"))
def test_an_order_is_obeyed(original: list[Any], order: list[str]) -> None:
    patch = {"$setElementOrder/merged": items(*order)}
    present = {each["name"] for each in original}
    result = merge({"merged": original}, patch, THING).get("merged", []) if original else []
    assert [each["name"] for each in result] == [name for name in order if name in present]


def test_long_lists_cost_no_more_than_their_length() -> None:
    many = [{"name": str(number)} for number in range(20_000)]
    merged = merge({"merged": many}, {"merged": many[::-1], "$setElementOrder/merged": many[::-1]}, THING)
    assert merged["merged"] == many[::-1]


@pytest.mark.parametrize(
    ("original", "patch", "path", "result"),
    [
        pytest.param(
            {"spec": {"containers": [{"name": "a", "image": "x"}, {"name": "b", "image": "x"}]}},
            {"spec": {"containers": [{"name": "b", "image": "y"}]}},
            ("spec", "containers"),
            [{"name": "a", "image": "x"}, {"name": "b", "image": "y"}],
            id="containers by name",
        ),
        pytest.param(
            {"spec": {"tolerations": [{"key": "a"}]}},
            {"spec": {"tolerations": [{"key": "b"}]}},
            ("spec", "tolerations"),
            [{"key": "b"}],
            id="tolerations are atomic",
        ),
        pytest.param(
            {"status": {"conditions": [{"type": "Ready", "status": "False"}]}},
            {"status": {"conditions": [{"type": "Ready", "status": "True"}]}},
            ("status", "conditions"),
            [{"type": "Ready", "status": "True"}],
            id="conditions by type",
        ),
        pytest.param(
            {"metadata": {"finalizers": ["a", "b"]}},
            {"metadata": {"$deleteFromPrimitiveList/finalizers": ["a"]}},
            ("metadata", "finalizers"),
            ["b"],
            id="finalizers by value",
        ),
        pytest.param(
            {"spec": {"volumes": [{"name": "v", "emptyDir": {}}]}},
            {"spec": {"volumes": [{"name": "v", "$retainKeys": ["name", "hostPath"], "hostPath": {"path": "/"}}]}},
            ("spec", "volumes"),
            [{"name": "v", "hostPath": {"path": "/"}}],
            id="a volume becomes another one",
        ),
        pytest.param(
            {"spec": {"containers": [{"name": "a", "ports": [{"containerPort": 80, "protocol": "TCP"}]}]}},
            {"spec": {"containers": [{"name": "a", "ports": [{"containerPort": 80, "name": "web"}]}]}},
            ("spec", "containers"),
            [{"name": "a", "ports": [{"containerPort": 80, "protocol": "TCP", "name": "web"}]}],
            id="ports by number",
        ),
    ],
)
def test_pods(original: dict[str, Any], patch: dict[str, Any], path: tuple[str, str], result: Any) -> None:
    merged = merge(original, patch, shape("v1", "Pod"))
    assert merged[path[0]][path[1]] == result
