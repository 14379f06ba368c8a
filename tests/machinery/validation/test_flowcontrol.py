"""What is wrong with the status of flow schemas and priority levels; the rest is held to recorded answers."""

from __future__ import annotations

from typing import Any

import pytest

from hardpoint.machinery import kinds, validation

Json = dict[str, Any]


@pytest.mark.parametrize("kind", ["FlowSchema", "PriorityLevelConfiguration"])
@pytest.mark.parametrize(
    ("types", "told"),
    [
        ([], []),
        (["Dangling", "Other"], []),
        ([""], ["status.conditions[0].type: Required value"]),
        (["Dangling", "Dangling"], ['status.conditions[1].type: Duplicate value: "Dangling"']),
        (
            ["", ""],
            [
                "status.conditions[0].type: Required value",
                'status.conditions[1].type: Duplicate value: ""',
                "status.conditions[1].type: Required value",
            ],
        ),
    ],
)
def test_conditions(kind: str, types: list[str], told: list[str]) -> None:
    found = kinds.by_kind("flowcontrol.apiserver.k8s.io/v1", kind)
    assert found is not None
    old: Json = {"metadata": {"name": "a", "resourceVersion": "1", "uid": "u"}, "spec": {}}
    new = {**old, "status": {"conditions": [{"type": each} for each in types]}}
    assert [str(each) for each in validation.on_part_update(found, "status", new, old)] == told
