"""Sets of fields for tests that hold for all of them."""

from __future__ import annotations

from hypothesis import strategies as st

from hardpoint.machinery.apply import fieldsets
from hardpoint.machinery.apply.fieldsets import FieldSet, Path

ELEMENTS = ["f:a", "f:b", "f:c", 'k:{"name":"x"}', 'k:{"port":80}', 'k:{"port":443}', 'v:"t"', "v:2", "v:10", "i:0"]

paths: st.SearchStrategy[Path] = st.lists(st.sampled_from(ELEMENTS), min_size=1, max_size=4).map(tuple)
field_sets: st.SearchStrategy[FieldSet] = st.lists(paths, max_size=12).map(fieldsets.of_paths)


def members(fields: FieldSet) -> set[Path]:
    return set(fieldsets.paths(fields))
