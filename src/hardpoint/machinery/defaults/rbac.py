"""Defaults of role bindings: which API group a role or a subject without one belongs to."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]

GROUP = "rbac.authorization.k8s.io"


def _binding(obj: Json) -> None:
    role = obj["roleRef"]
    if not role.get("apiGroup"):
        role["apiGroup"] = GROUP
    for subject in obj.get("subjects", ()):
        if not subject.get("apiGroup") and subject.get("kind") in ("User", "Group"):
            subject["apiGroup"] = GROUP


DEFAULTS = {"RoleBinding": _binding, "ClusterRoleBinding": _binding}
