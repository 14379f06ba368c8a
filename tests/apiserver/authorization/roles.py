"""Roles, given and asked about: what tests of authorization do again and again."""

from __future__ import annotations

from typing import Any

from hardpoint.machinery.messages import User
from tests.apiserver.asking import Api, Json

RBAC = "/apis/rbac.authorization.k8s.io/v1"
REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
BOB = User("bob", ("devs",))
TO_BOB = {"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "bob"}


def rule(verbs: str, resources: str, groups: str = "", **more: list[str]) -> Json:
    """A rule from words with spaces between them; `core` is the group without a name."""
    named = [group.replace("core", "") for group in (groups or "core").split()]
    return {"verbs": verbs.split(), "apiGroups": named, "resources": resources.split(), **more}


async def allow(api: Api, name: str, *rules: Json, subjects: list[Json] | None = None, namespace: str = "") -> None:
    """Give a role of these rules, by default to bob."""
    place = f"{RBAC}/namespaces/{namespace}/" if namespace else f"{RBAC}/cluster"
    kind = "Role" if namespace else "ClusterRole"
    await api.ok("POST", f"{place}roles", {"metadata": {"name": name}, "rules": list(rules)})
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": name}
    binding = {"metadata": {"name": name}, "roleRef": reference, "subjects": [TO_BOB] if subjects is None else subjects}
    await api.ok("POST", f"{place}rolebindings", binding)


async def review(api: Api, user: User, **attributes: str) -> Json:
    """The status of a SubjectAccessReview about a resource, or about a `path`."""
    about = "nonResourceAttributes" if "path" in attributes else "resourceAttributes"
    spec: dict[str, Any] = {"user": user.name, "groups": list(user.groups), about: attributes}
    status: Json = (await api.ok("POST", REVIEWS, {"spec": spec}))["status"]
    return status
