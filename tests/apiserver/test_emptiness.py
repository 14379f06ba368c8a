"""Refusals that show a field tell an empty list or map from none, though objects do not keep the difference."""

from __future__ import annotations

from typing import Any

import pytest

from hardpoint.apiserver.emptiness import as_given
from hardpoint.machinery.fielderrors import invalid


@pytest.mark.parametrize(
    ("body", "field", "shown"),
    [
        ({"metadata": {"labels": {}}}, "metadata.labels", "{}"),
        ({"metadata": {"labels": None}}, "metadata.labels", "null"),
        ({"metadata": {}}, "metadata.labels", "null"),
        ({"spec": {"devices": [{"conditions": []}]}}, "spec.devices[0].conditions", "[]"),
        ({"spec": {"devices": []}}, "spec.devices[0].conditions", "null"),
        ({"data": {"a": {"list": []}}}, "data[a].list", "[]"),
        ({"spec": {"rules": []}}, "spec", "[]"),
        ({"spec": {}}, "spec", "null"),
        ("not even an object", "spec.x", "null"),
    ],
)
def test_empty_is_told_from_absent(body: Any, field: str, shown: str) -> None:
    (error,) = as_given([invalid(field, None, "is wrong")], body)
    assert error.shown == shown


def test_what_is_shown_already_stays() -> None:
    error = invalid("spec.replicas", 0, "is wrong")
    assert as_given([error], {"spec": {"replicas": []}}) == [error]
