"""ABAC: a file of policies, one JSON object a line, each of which allows something to somebody.

Kept for those who come with such a file; roles say the same, and can be changed while the server runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import orjson

from hardpoint.apiserver.authorization.contract import Authorizer, Decision, Known, Opinion, Question
from hardpoint.machinery.errors import ConfigError
from hardpoint.machinery.messages import User

_VERSION = "abac.authorization.kubernetes.io/v1beta1"
_TEXTS = {
    "user": "user",
    "group": "group",
    "namespace": "namespace",
    "resource": "resource",
    "apiGroup": "api_group",
    "nonResourcePath": "path",
}
_READING = frozenset(("get", "list", "watch"))
_ALLOWED = Decision(Opinion.ALLOW)
_NO_MATCH = Decision(Opinion.NONE, "No policy matched.")


@dataclass(frozen=True, slots=True)
class Policy:
    """One line. `*` stands for everything, an empty text for nothing but itself."""

    user: str = ""
    group: str = ""
    namespace: str = ""
    resource: str = ""
    api_group: str = ""
    path: str = ""
    is_read_only: bool = False

    def names(self, user: User) -> bool:
        """Whether it is about this user: whoever it names must be the user, and it must name somebody."""
        if self.user and self.user not in ("*", user.name):
            return False
        if self.group and self.group != "*" and self.group not in user.groups:
            return False
        return bool(self.user or self.group)

    def covers(self, question: Question) -> bool:
        target = question.target
        if not question.is_about_resource:
            return self.path == target.path or (
                self.path.endswith("*") and target.path.startswith(self.path.rstrip("*"))
            )
        wanted = ((self.namespace, target.namespace), (self.resource, target.resource), (self.api_group, target.group))
        return all(policy in ("*", asked) for policy, asked in wanted)

    def allows(self, question: Question) -> bool:
        may_write = not self.is_read_only or question.verb in _READING
        return may_write and self.names(question.user) and self.covers(question)


class Abac:
    """Allows what any policy allows."""

    def __init__(self, policies: Sequence[Policy]) -> None:
        self._policies = policies

    @classmethod
    def from_file(cls, file: Path) -> Self:
        """Raises ConfigError, which names the file and the line."""
        try:
            lines = file.read_bytes().splitlines()
        except OSError as cause:
            raise ConfigError(f"--authorization-policy-file {file} cannot be read: {cause.strerror}") from cause
        return cls([_read(line, f"{file}:{number}") for number, line in enumerate(lines, 1) if _is_policy(line)])

    async def authorize(self, question: Question) -> Decision:
        return _ALLOWED if any(policy.allows(question) for policy in self._policies) else _NO_MATCH

    async def rules_for(self, user: User, namespace: str) -> Known:
        rules: list[dict[str, Any]] = []
        for policy in self._policies:
            if not policy.names(user) or policy.namespace not in ("*", namespace):
                continue
            verbs = sorted(_READING) if policy.is_read_only else ["*"]
            if policy.resource:
                rules.append({"verbs": verbs, "apiGroups": [policy.api_group], "resources": [policy.resource]})
            if policy.path:
                rules.append({"verbs": verbs, "nonResourceURLs": [policy.path]})
        return Known(rules=rules)


def _is_policy(line: bytes) -> bool:
    text = line.strip()
    return bool(text) and not text.startswith(b"#")


def _read(line: bytes, where: str) -> Policy:
    try:
        found = orjson.loads(line)
    except orjson.JSONDecodeError as cause:
        raise ConfigError(
            f"--authorization-policy-file {where}: it is not JSON; a policy is one object a line"
        ) from cause
    if not isinstance(found, dict) or found.get("kind") != "Policy" or found.get("apiVersion") != _VERSION:
        raise ConfigError(f"--authorization-policy-file {where}: kind must be Policy and apiVersion {_VERSION}")
    spec = found.get("spec", {})
    if not isinstance(spec, dict):
        raise ConfigError(f"--authorization-policy-file {where}: spec must be an object")
    for name, value in spec.items():
        if name != "readonly" and name not in _TEXTS:
            raise ConfigError(f"--authorization-policy-file {where}: spec.{name}: there is no such field")
        if not isinstance(value, bool if name == "readonly" else str):
            wanted = "true or false" if name == "readonly" else "a text"
            raise ConfigError(f"--authorization-policy-file {where}: spec.{name}: must be {wanted}")
    texts = {ours: spec.get(theirs, "") for theirs, ours in _TEXTS.items()}
    return Policy(**texts, is_read_only=spec.get("readonly", False))


_conforms: type[Authorizer] = Abac
