"""What counts as a change, and what is remembered of what was handled: values in, values out."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardpoint.seams.controller.guest.handlers.essence import digest, essence, value_at
from hardpoint.seams.controller.guest.handlers.progress import VALUES_BYTES_MAX, Progress, read

Json = dict[str, Any]

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(st.characters(codec="utf-8"), max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters(codec="utf-8")), inner, max_size=3)
    ),
    max_leaves=8,
)
names = st.sampled_from(["update a", "update b", "update b spec.x", "create a"])
steps = st.lists(
    st.tuples(st.just("handled"), names, values)
    | st.tuples(st.just("done"), names, st.none())
    | st.tuples(st.just("tries"), names, st.integers(1, 9)),
    max_size=12,
)


def body(**metadata: Any) -> Json:
    spec = {"image": "a", "parts": [{"x": 1}]}
    return {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a", **metadata}, "spec": spec}


@pytest.mark.parametrize(
    "other",
    [
        pytest.param({**body(), "status": {"phase": "Ready"}}, id="status"),
        pytest.param(body(resourceVersion="7", generation=3, uid="u", managedFields=[{}]), id="what the server counts"),
        pytest.param(body(finalizers=["a/b"], ownerReferences=[{"uid": "u"}], deletionTimestamp="x"), id="bookkeeping"),
        pytest.param(body(annotations={LAST_APPLIED: "{}"}), id="what kubectl remembers"),
        pytest.param(body(annotations={"app.example.com/last-handled": "{}"}), id="what any App remembers"),
        pytest.param(body(labels={}, annotations={}), id="nothing, in other words"),
    ],
)
def test_noise_is_no_change(other: Json) -> None:
    assert essence(other) == essence(body())


@pytest.mark.parametrize(
    "other",
    [
        pytest.param({**body(), "spec": {"image": "b"}}, id="spec"),
        pytest.param({**body(), "data": {"a": "b"}}, id="another field"),
        pytest.param(body(labels={"a": "b"}), id="labels"),
        pytest.param(body(annotations={"a": "b"}), id="annotations"),
    ],
)
def test_what_users_say_is_a_change(other: Json) -> None:
    assert digest(essence(other)) != digest(essence(body()))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        pytest.param(("spec", "image"), "a", id="there"),
        pytest.param(("spec", "none"), None, id="not there"),
        pytest.param(("spec", "image", "deeper"), None, id="nothing below a text"),
        pytest.param(("spec", "parts", "0"), None, id="lists have no names"),
        pytest.param(("metadata", "annotations"), {"a": "b"}, id="annotations of users"),
        pytest.param(("metadata", "name"), "a", id="metadata"),
    ],
)
def test_the_value_of_a_field(path: tuple[str, ...], value: Any) -> None:
    assert value_at(body(annotations={"a": "b", "x.y/last-handled": "{}"}), path) == value


@given(values)
def test_a_digest_does_not_depend_on_the_order_of_keys(value: Any) -> None:
    def turned(part: Any) -> Any:
        if isinstance(part, dict):
            return {key: turned(part[key]) for key in reversed(part)}
        return [turned(each) for each in part] if isinstance(part, list) else part

    assert digest(turned(value)) == digest(value)


def after(taken: list[tuple[str, str, Any]]) -> Progress:
    progress = Progress("u")
    for step, name, value in taken:
        if step == "handled":
            progress = progress.with_handled(name, digest(value), value)
        elif step == "done":
            progress = progress.with_done(name)
        else:
            progress = progress.with_tries(name, (value, "d"))
    return progress


@given(steps, st.booleans())
def test_what_is_written_is_read_again(taken: list[tuple[str, str, Any]], is_created: bool) -> None:
    progress = after(taken).with_created() if is_created else after(taken)
    assert read(progress.written(), "u") == progress
    assert read(progress.written(), "v") is None, "another object's is none of ours"


@given(steps)
def test_each_handler_has_the_value_that_it_was_last_called_with(taken: list[tuple[str, str, Any]]) -> None:
    progress = after(taken)
    last = {name: value for step, name, value in taken if step == "handled"}
    assert progress.handled == {name: digest(value) for name, value in last.items()}
    known = {digest(value): value for value in last.values() if value is not None}
    assert progress.values == known, "and no others are kept"


@given(st.lists(st.integers(1, VALUES_BYTES_MAX), max_size=6))
def test_an_annotation_is_bounded_and_digests_stay(sizes: list[int]) -> None:
    progress = Progress("u")
    for number, size in enumerate(sizes):
        value = str(number).ljust(size, "x")
        progress = progress.with_handled(f"update {number}", digest(value), value)
    text = progress.written()
    assert len(text) < VALUES_BYTES_MAX + 1024
    found = read(text, "u")
    assert found is not None
    assert found.handled == progress.handled
    dropped = progress.values.keys() - found.values.keys()
    largest = max((len(found.values[kept]) for kept in found.values), default=0)
    assert all(len(progress.values[each]) >= largest for each in dropped), "the largest go first"


@given(st.text() | values.map(lambda value: orjson.dumps(value).decode()))
def test_anything_may_be_in_an_annotation(text: str) -> None:
    found = read(text, "u")
    assert found is None or found.uid == "u"


@given(
    st.fixed_dictionaries({"uid": st.just("u")}, optional=dict.fromkeys(["done", "handled", "values", "tries"], values))
)
def test_what_is_nearly_right_raises_nothing(told: Json) -> None:
    found = read(orjson.dumps(told).decode(), "u")
    if found is not None:
        assert read(found.written(), "u") == found
