"""What becomes of an object before it is kept."""

from __future__ import annotations

from typing import Any

import pytest

from hardpoint.runtime.transforms import (
    LAST_APPLIED,
    Transform,
    metadata_only,
    unchanged,
    without_bookkeeping,
    without_managed_fields,
)

Json = dict[str, Any]


def whole() -> Json:
    metadata = {"name": "a", "annotations": {LAST_APPLIED: "{}", "mine": "1"}, "managedFields": [{}]}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"x": "1"}}


@pytest.mark.parametrize(
    ("transform", "fields", "annotations"),
    [
        pytest.param(unchanged, {"name", "annotations", "managedFields"}, {LAST_APPLIED, "mine"}, id="all"),
        pytest.param(without_managed_fields, {"name", "annotations"}, {LAST_APPLIED, "mine"}, id="no managed fields"),
        pytest.param(without_bookkeeping, {"name", "annotations"}, {"mine"}, id="no bookkeeping"),
    ],
)
def test_what_is_kept(transform: Transform, fields: set[str], annotations: set[str]) -> None:
    kept = transform(whole())
    assert set(kept["metadata"]) == fields
    assert set(kept["metadata"]["annotations"]) == annotations
    assert kept["data"] == {"x": "1"}


def test_annotations_of_kubectl_alone_leave_none() -> None:
    found = {"metadata": {"name": "a", "annotations": {LAST_APPLIED: "{}"}}}
    assert without_bookkeeping(found) == {"metadata": {"name": "a"}}


def test_metadata_only() -> None:
    kept = metadata_only(whole())
    assert set(kept) == {"apiVersion", "kind", "metadata"}
    assert "managedFields" not in kept["metadata"]
