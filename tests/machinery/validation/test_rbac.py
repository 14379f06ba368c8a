"""Roles and their bindings."""

from __future__ import annotations

from typing import Any

import pytest

from tests.machinery.walk import Json, changed, complaints, replaced

GROUP = "rbac.authorization.k8s.io"


def rbac(kind: str, **fields: Any) -> Json:
    return {"apiVersion": f"{GROUP}/v1", "kind": kind, "metadata": {"name": "system:x"}, **fields}


ROLE = rbac("Role", rules=[{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}])
CLUSTER_ROLE = rbac("ClusterRole", rules=[{"nonResourceURLs": ["/healthz"], "verbs": ["get"]}])
BINDING = rbac("RoleBinding", roleRef={"kind": "Role", "name": "r"}, subjects=[{"kind": "User", "name": "u"}])
CLUSTER_BINDING = rbac("ClusterRoleBinding", roleRef={"kind": "ClusterRole", "name": "r"})
ACCOUNT = {"kind": "ServiceAccount", "name": "a"}


@pytest.mark.parametrize(
    ("body", "path", "value", "told"),
    [
        (ROLE, "rules", [], []),
        (ROLE, "rules.0.verbs", [], ["rules[0].verbs: Required value"]),
        (
            ROLE,
            "rules.0",
            {"nonResourceURLs": ["/x"], "verbs": ["get"]},
            ['rules[0].nonResourceURLs: Invalid value: ["/x"]: namespaced rules cannot apply to non-resource URLs'],
        ),
        (
            CLUSTER_ROLE,
            "rules.0.resources",
            ["pods"],
            [
                'rules[0].nonResourceURLs: Invalid value: ["/healthz"]: rules cannot apply to both regular'
                " resources and"
                " non-resource URLs"
            ],
        ),
        (BINDING, "subjects", [ACCOUNT], []),
        (CLUSTER_BINDING, "subjects", [ACCOUNT], ["subjects[0].namespace: Required value"]),
        (
            BINDING,
            "subjects",
            [{"kind": "Robot", "name": "r"}],
            ['subjects[0].kind: Unsupported value: "Robot": supported values: "ServiceAccount", "User", "Group"'],
        ),
        (
            CLUSTER_BINDING,
            "roleRef.kind",
            "Role",
            ['roleRef.kind: Unsupported value: "Role": supported values: "ClusterRole"'],
        ),
        (
            BINDING,
            "subjects",
            [{"kind": "User"}, {"kind": "Group"}],
            [
                "subjects[0].name: Required value",
                "subjects[1].name: Required value",
            ],
        ),
    ],
)
def test_rules_and_subjects(body: Json, path: str, value: Any, told: list[str]) -> None:
    assert complaints(changed(body, path, value)) == told


def test_a_binding_keeps_its_role() -> None:
    _, told = replaced(changed(BINDING, "roleRef.name", "s"), BINDING)
    assert told == [f'roleRef: Invalid value: {{"APIGroup":"{GROUP}","Kind":"Role","Name":"s"}}: field is immutable']
