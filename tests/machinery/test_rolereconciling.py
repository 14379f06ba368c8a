"""Roles get back what they lost and keep what they gained."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from hardpoint.machinery.rolereconciling import AUTO_UPDATE, is_protected, reconciled, refers_elsewhere

Json = dict[str, Any]


def rule(*resources: str) -> Json:
    return {"verbs": ["get"], "apiGroups": [""], "resources": list(resources)}


def role(**more: Any) -> Json:
    return {"kind": "ClusterRole", "metadata": {"name": "r", **more.pop("metadata", {})}, **more}


def selecting(*names: str) -> Json:
    return {"clusterRoleSelectors": [{"matchLabels": {name: "true"}} for name in names]}


@pytest.mark.parametrize(
    ("existing", "expected", "becomes"),
    [
        pytest.param(role(rules=[rule("a")]), role(rules=[rule("a")]), role(rules=[rule("a")]), id="nothing to do"),
        pytest.param(
            role(rules=[rule("a", "b")]), role(rules=[rule("b")]), role(rules=[rule("a", "b")]), id="covered otherwise"
        ),
        pytest.param(
            role(rules=[rule("z")]), role(rules=[rule("a")]), role(rules=[rule("z"), rule("a")]), id="lost a rule"
        ),
        pytest.param(role(), role(rules=[rule("a")]), role(rules=[rule("a")]), id="lost all rules"),
        pytest.param(
            role(metadata={"labels": {"a": "mine", "c": "1"}}),
            role(metadata={"labels": {"a": "0", "b": "0"}}),
            role(metadata={"labels": {"a": "mine", "b": "0", "c": "1"}}),
            id="lost a label",
        ),
        pytest.param(
            role(aggregationRule=selecting("x")),
            role(aggregationRule=selecting("x", "y")),
            role(aggregationRule=selecting("x", "y")),
            id="lost a selector",
        ),
        pytest.param(role(aggregationRule=selecting("x")), role(), role(), id="gathers what it should not"),
    ],
)
def test_roles(existing: Json, expected: Json, becomes: Json) -> None:
    before = deepcopy(existing)
    assert reconciled(existing, expected) == becomes
    assert existing == before
    assert reconciled(becomes, expected) == becomes


def binding(*names: str, role: str = "r") -> Json:
    subjects = [{"kind": "User", "name": name} for name in names]
    return {"metadata": {"name": "b"}, "roleRef": {"name": role}, "subjects": subjects}


def test_bindings() -> None:
    assert reconciled(binding("x", "a"), binding("a", "b")) == binding("x", "a", "b")
    assert refers_elsewhere(binding(role="x"), binding())
    assert not refers_elsewhere(binding("a"), binding("b"))


@pytest.mark.parametrize(("said", "protected"), [("false", True), ("true", False), (None, False)])
def test_who_wants_to_be_left_alone(said: str | None, protected: bool) -> None:
    annotations = {AUTO_UPDATE: said} if said else None
    assert is_protected(role(metadata={"annotations": annotations})) is protected
