"""Roles, bindings and questions drawn at random, close enough together that about half of the questions are a yes."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]

RBAC = "rbac.authorization.k8s.io"
NAMESPACES = ("default", "kube-public")
VERBS = ("get", "list", "create", "*", "deletecollection", "impersonate-on:x:get")
GROUPS = ("", "apps", "*", "example.com")
RESOURCES = ("pods", "pods/log", "*/log", "*", "pods/*", "*/*", "secrets", "pods/log/x", "log", "")
ASKED_RESOURCES = ("pods", "secrets", "*", "log", "", "nodes")
PARTS = ("", "", "log", "*", "log/x", "scale")
NAMES = ("", "a", "b", "*")
PATHS = ("/a", "/a/*", "*", "/a*", "/a/**", "a*", "/a/b/", "/*")
ASKED_PATHS = ("/a", "/a/", "/a/b", "/ab", "", "a", "/", "*", "/a/*", "/a/b/", "/A")
ASKED_VERBS = ("get", "list", "create", "*", "", "patch", "deletecollection", "impersonate-on:x:get")


class World:
    """One round: people, roles and bindings whose names no other round uses."""

    def __init__(self, number: int) -> None:
        self._random = random.Random(number)
        self._prefix = f"round-{number}"
        self.users = [f"{self._prefix}-user-{each}" for each in range(4)]
        self.groups = [f"{self._prefix}-group-{each}" for each in range(3)]
        self.accounts = [f"{self._prefix}-account-{each}" for each in range(2)]

    def objects(self) -> Iterator[tuple[str, Json]]:
        """Collections, and what is to be created in them."""
        root = f"/apis/{RBAC}/v1"
        for number in range(5):
            yield f"{root}/clusterroles", self._role(number, paths=True)
            for namespace in NAMESPACES:
                yield f"{root}/namespaces/{namespace}/roles", self._role(number, paths=False)
        for number in range(6):
            yield f"{root}/clusterrolebindings", self._binding(number, "ClusterRole")
            for namespace in NAMESPACES:
                kind = self._random.choice(("Role", "ClusterRole"))
                yield f"{root}/namespaces/{namespace}/rolebindings", self._binding(number, kind)

    def specs(self, count: int) -> Iterator[Json]:
        """The specs of SubjectAccessReviews."""
        for _ in range(count):
            who: Json = {"user": self._random.choice((*self.users, *map(self._username, self.accounts)))}
            groups = self._some(self.groups, least=0)
            if groups:
                who["groups"] = groups
            if self._random.random() < 0.2:
                path = {"path": self._random.choice(ASKED_PATHS), "verb": self._random.choice(ASKED_VERBS)}
                yield {**who, "nonResourceAttributes": path}
                continue
            asked = {
                "verb": self._random.choice(ASKED_VERBS),
                "group": self._random.choice((*GROUPS, "")),
                "resource": self._random.choice(ASKED_RESOURCES),
                "subresource": self._random.choice(PARTS),
                "name": self._random.choice(NAMES),
                "namespace": self._random.choice(("", *NAMESPACES, "kube-system")),
            }
            yield {**who, "resourceAttributes": {key: value for key, value in asked.items() if value}}

    def _role(self, number: int, *, paths: bool) -> Json:
        rules = [self._rule(paths=paths) for _ in range(self._random.randint(1, 3))]
        return {"metadata": {"name": f"{self._prefix}-{number}"}, "rules": rules}

    def _rule(self, *, paths: bool) -> Json:
        verbs = self._some(VERBS)
        if paths and self._random.random() < 0.3:
            return {"verbs": verbs, "nonResourceURLs": self._some(PATHS)}
        rule: Json = {"verbs": verbs, "apiGroups": self._some(GROUPS), "resources": self._some(RESOURCES)}
        if self._random.random() < 0.3:
            rule["resourceNames"] = self._some(NAMES)
        return rule

    def _binding(self, number: int, kind: str) -> Json:
        # One role more than there are: it does not exist.
        role = f"{self._prefix}-{self._random.randint(0, 5)}"
        return {
            "metadata": {"name": f"{self._prefix}-{number}"},
            "roleRef": {"apiGroup": RBAC, "kind": kind, "name": role},
            "subjects": [self._subject() for _ in range(self._random.randint(1, 3))],
        }

    def _subject(self) -> Json:
        kind = self._random.choice(("User", "Group", "ServiceAccount"))
        if kind == "ServiceAccount":
            namespace = self._random.choice(NAMESPACES)
            return {"kind": kind, "name": self._random.choice(self.accounts), "namespace": namespace}
        names = self.users if kind == "User" else self.groups
        return {"kind": kind, "apiGroup": RBAC, "name": self._random.choice(names)}

    def _username(self, account: str) -> str:
        return f"system:serviceaccount:{self._random.choice(NAMESPACES)}:{account}"

    def _some(self, choices: Any, *, least: int = 1) -> list[str]:
        return self._random.sample(choices, self._random.randint(least, min(3, len(choices))))
