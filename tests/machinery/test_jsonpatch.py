from __future__ import annotations

import copy
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardpoint.machinery.jsonpatch import OPERATIONS_MAX, BadPatch, PatchFailed, apply, same

DOCUMENT: dict[str, Any] = {"a": {"b": 1}, "list": [1, 2, 3], "none": None, "a/b": 1, "m~n": 2}


def op(kind: str, path: str, value: Any = ..., **more: Any) -> dict[str, Any]:
    operation = {"op": kind, "path": path, **more}
    return operation if value is ... else {**operation, "value": value}


@pytest.mark.parametrize(
    ("operation", "path", "result"),
    [
        (op("add", "/a/c", 2), ["a"], {"b": 1, "c": 2}),
        (op("add", "/a/b", 2), ["a"], {"b": 2}),
        (op("add", "/list/0", 0), ["list"], [0, 1, 2, 3]),
        (op("add", "/list/3", 4), ["list"], [1, 2, 3, 4]),
        (op("add", "/list/-", 4), ["list"], [1, 2, 3, 4]),
        (op("add", "/list/-1", 9), ["list"], [1, 2, 3, 9]),
        (op("add", "/a/c"), ["a"], {"b": 1, "c": None}),
        (op("remove", "/a/b"), ["a"], {}),
        (op("remove", "/list/1"), ["list"], [1, 3]),
        (op("remove", "/list/-1"), ["list"], [1, 2]),
        (op("replace", "/a/b", [1]), ["a"], {"b": [1]}),
        (op("replace", "/a/new", 1), ["a"], {"b": 1, "new": 1}),
        (op("replace", "/list/2", 9), ["list"], [1, 2, 9]),
        (op("replace", "/a~1b", 5), ["a/b"], 5),
        (op("replace", "/m~0n", 5), ["m~n"], 5),
        (op("move", "/c", **{"from": "/a/b"}), ["c"], 1),
        (op("move", "/list/0", **{"from": "/list/2"}), ["list"], [3, 1, 2]),
        (op("copy", "/c", **{"from": "/a"}), ["c"], {"b": 1}),
        (op("copy", "/a/self", **{"from": "/a"}), ["a"], {"b": 1, "self": {"b": 1}}),
        (op("copy", "/c", **{"from": "/missing"}), ["c"], None),
        (op("test", "/a", {"b": 1}), ["a"], {"b": 1}),
        (op("test", "/none", None), ["none"], None),
        (op("test", "/missing", None), ["a"], {"b": 1}),
        (op("test", "", DOCUMENT), ["a"], {"b": 1}),
        (op("replace", "", {"a": 1}), ["a"], 1),
    ],
)
def test_operations(operation: dict[str, Any], path: list[str], result: Any) -> None:
    found = apply(DOCUMENT, [operation])
    for step in path:
        found = found[step]
    assert found == result


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        (op("add", "/x/y", 1), 'add operation does not apply: doc is missing path: "/x/y": missing value'),
        (op("add", "", 1), 'add operation does not apply: doc is missing path: "": missing value'),
        (op("add", "/none/x", 1), 'add operation does not apply: doc is missing path: "/none/x": missing value'),
        (op("add", "/a/b/c", 1), 'add operation does not apply: doc is missing path: "/a/b/c": missing value'),
        (op("add", "/list/x", 1), "error in add for path: '/list/x': value was not a proper array index: 'x'"),
        (
            op("add", "/list/4", 1),
            "error in add for path: '/list/4': Unable to access invalid index: 4: invalid index referenced",
        ),
        (
            op("remove", "/x"),
            "error in remove for path: '/x': Unable to remove nonexistent key: x: missing value",
        ),
        (op("replace", "/list/9", 1), "replace operation does not apply: doc is missing key: /list/9: missing value"),
        (op("replace", "", 1), "replace operation value must be object or array"),
        (op("test", "/a/b", 2), "testing value /a/b failed: test failed"),
        (op("test", "/a/b", True), "testing value /a/b failed: test failed"),
        (op("test", "/a/b", 1.0), "testing value /a/b failed: test failed"),
        (op("move", "/c"), "move operation failed to decode from: missing value"),
        (op("jump", "/c"), "Unexpected kind: jump"),
        ({}, "Unexpected kind: unknown"),
    ],
)
def test_operations_that_do_not_apply(operation: dict[str, Any], message: str) -> None:
    with pytest.raises(PatchFailed) as refused:
        apply(DOCUMENT, [operation])
    assert str(refused.value) == message


@pytest.mark.parametrize(
    ("patch", "message"),
    [
        ({}, "json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp"),
        ("add", "json: cannot unmarshal string into Go value of type []handlers.jsonPatchOp"),
        (1.5, "json: cannot unmarshal number into Go value of type []handlers.jsonPatchOp"),
        (["add"], "json: cannot unmarshal string into Go value of type handlers.jsonPatchOp"),
        ([True], "json: cannot unmarshal bool into Go value of type handlers.jsonPatchOp"),
        ([{"op": 3}], "json: cannot unmarshal number into Go struct field jsonPatchOp.op of type string"),
        ([{"from": {}}], "json: cannot unmarshal object into Go struct field jsonPatchOp.from of type string"),
        (
            [{}] * (OPERATIONS_MAX + 1),
            "The allowed maximum operations in a JSON patch is 10000, got 10001",
        ),
    ],
)
def test_what_is_no_patch(patch: Any, message: str) -> None:
    with pytest.raises(BadPatch) as refused:
        apply(DOCUMENT, patch)
    assert str(refused.value) == message


def test_no_operations_change_nothing() -> None:
    assert apply(DOCUMENT, []) == apply(DOCUMENT, None) == DOCUMENT


paths = st.sampled_from(["/a", "/a/b", "/a/c", "/list", "/list/0", "/list/-", "/list/1/x", "/b", "/b/a"])
operations = st.one_of(
    st.builds(op, st.sampled_from(["add", "replace", "test"]), paths, st.sampled_from([1, {"a": 1}, [1], None])),
    st.builds(op, st.just("remove"), paths),
    st.builds(
        lambda kind, path, source: op(kind, path, **{"from": source}), st.sampled_from(["move", "copy"]), paths, paths
    ),
)


@given(st.lists(operations, max_size=6))
def test_neither_document_nor_patch_is_changed(patch: list[dict[str, Any]]) -> None:
    document = {"a": {"b": {"c": [1]}}, "list": [1, {"x": [2]}]}
    before = copy.deepcopy((document, patch))
    try:
        result = apply(document, patch)
    except PatchFailed:
        result = None
    assert (document, patch) == before
    # A copy is a copy: nothing in the result contains itself.
    copy.deepcopy(result)
    repr(result)


@given(st.lists(operations, max_size=5), st.lists(operations, max_size=5))
def test_a_patch_is_its_parts_one_after_the_other(first: list[dict[str, Any]], second: list[dict[str, Any]]) -> None:
    document = {"a": {"b": 1}, "list": [1, {"x": 2}]}
    try:
        stepwise = apply(apply(document, first), second)
    except PatchFailed:
        with pytest.raises(PatchFailed):
            apply(document, first + second)
    else:
        assert same(apply(document, first + second), stepwise)


def test_copies_have_a_budget() -> None:
    doubling = [op("copy", "/a/-", **{"from": "/a"})] * 60
    with pytest.raises(PatchFailed, match="exceeding the limit 3145728"):
        apply({"a": ["x" * 100]}, doubling)


def test_a_long_patch_of_a_long_list_takes_no_time() -> None:
    started = time.process_time()
    result = apply({"list": list(range(10_000))}, [op("add", "/list/-", 1)] * OPERATIONS_MAX)
    assert len(result["list"]) == 20_000
    assert time.process_time() - started < 2


def test_documents_may_be_deeper_than_the_stack() -> None:
    deep: Any = 1
    for _ in range(20_000):
        deep = [deep]
    assert apply({"a": deep}, [op("test", "/a", deep), op("add", "/b", 1)])["b"] == 1
