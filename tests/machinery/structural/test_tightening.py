"""What a newer schema takes away is told with its path; what it allows in addition is not."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardpoint.machinery.structural import Structure
from hardpoint.machinery.structural.samples import Sampler
from hardpoint.machinery.structural.tightening import tightenings

Json = dict[str, Any]
TEXT: Json = {"type": "string"}


def of(field: Json, **more: Any) -> Json:
    return {"type": "object", "properties": {"f": field}, **more}


@pytest.mark.parametrize(
    ("older", "newer", "told"),
    [
        (of(TEXT), of({"type": "integer"}), ".f was of type string and is of type integer"),
        (of({"type": "number"}), of({"type": "integer"}), ".f was of type number and is of type integer"),
        (of({**TEXT, "nullable": True}), of(TEXT), ".f may no longer be null"),
        (of(TEXT), {"type": "object"}, ".f is gone: what objects say there is dropped"),
        (of(TEXT), of(TEXT, required=["f"]), ".f is required now"),
        (of(TEXT), of({**TEXT, "enum": ["a"]}), '.f may only be one of ["a"] now'),
        (of({**TEXT, "enum": ["a", "b"]}), of({**TEXT, "enum": ["a"]}), '.f may no longer be "b"'),
        (of(TEXT), of({**TEXT, "pattern": "^a"}), '.f must match "^a" now'),
        (of(TEXT), of({**TEXT, "format": "uuid"}), '.f must have the format "uuid" now'),
        (of(TEXT), of({**TEXT, "maxLength": 3}), ".f has the maxLength 3 now"),
        (of({**TEXT, "maxLength": 5}), of({**TEXT, "maxLength": 3}), ".f had the maxLength 5 and has 3"),
        (of({**TEXT, "minLength": 1}), of({**TEXT, "minLength": 2}), ".f had the minLength 1 and has 2"),
        (of({**TEXT, "default": "a"}), of({**TEXT, "default": "b"}), '.f had the default "a" and has the default "b"'),
        (
            of({"type": "array", "items": TEXT}),
            of({"type": "array", "items": TEXT, "x-kubernetes-list-type": "set"}),
            ".f was a list of type atomic and is a set: items may not repeat",
        ),
        (
            of({"type": "array", "items": TEXT}),
            of({"type": "array", "items": {**TEXT, "maxLength": 1}}),
            ".f[*] has the maxLength 1 now",
        ),
        (
            of(TEXT, **{"x-kubernetes-preserve-unknown-fields": True}),
            of(TEXT),
            ". no longer keeps fields that the schema does not name",
        ),
        (
            of(TEXT),
            of(TEXT, **{"x-kubernetes-validations": [{"rule": "self.f != ''"}]}),
            ". has a new rule: self.f != ''",
        ),
    ],
)
def test_what_is_tighter_is_told(older: Json, newer: Json, told: str) -> None:
    assert [str(each) for each in tightenings(older, newer)] == [told]


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        (of({"type": "integer"}), of({"type": "number"})),
        (of({**TEXT, "maxLength": 3}), of({**TEXT, "maxLength": 5})),
        (of({**TEXT, "enum": ["a"]}), of({**TEXT, "enum": ["a", "b"]})),
        (of(TEXT, required=["f"]), of(TEXT)),
        (of(TEXT), of({**TEXT, "default": "a"}, required=["f"])),
        (of(TEXT), {"type": "object", "properties": {"f": TEXT, "g": TEXT}}),
        (of({"type": "integer"}), of({"x-kubernetes-int-or-string": True})),
    ],
)
def test_what_is_looser_is_not(older: Json, newer: Json) -> None:
    assert list(tightenings(older, newer)) == []


fields = st.one_of(
    st.builds(
        lambda low, more: {"type": "integer", "minimum": low, "maximum": low + more},
        st.integers(0, 9),
        st.integers(0, 9),
    ),
    st.builds(lambda most: {"type": "string", "maxLength": most}, st.integers(0, 9)),
    st.builds(
        lambda values: {"type": "string", "enum": values}, st.lists(st.sampled_from("abcd"), min_size=1, unique=True)
    ),
)
schemas = st.builds(
    lambda properties, required: {"type": "object", "properties": properties, "required": sorted(required)},
    st.dictionaries(st.sampled_from("xyz"), fields),
    st.sets(st.sampled_from("xyz")),
).map(lambda schema: {**schema, "required": [name for name in schema["required"] if name in schema["properties"]]})


@given(schemas, schemas, st.integers(0, 1000))
def test_where_nothing_is_told_objects_stay_objects(older: Json, newer: Json, seed: int) -> None:
    whole = [{"type": "object", "properties": {"spec": each}} for each in (older, newer)]
    made = Sampler(whole[0], seed=seed, odd=seed % 2 == 1).object("a/v1", "A", "a")
    assert not Structure(whole[0]).rules["validation", "CREATE"](made)
    if not list(tightenings(*whole)):
        assert not Structure(whole[1]).rules["validation", "CREATE"](made)
        assert Structure(whole[1]).unknown_fields(made) == []
