"""Which flow a request belongs to: FlowSchemas, in the order of their precedence; the first that matches counts."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from hardpoint.apiserver.target import Target
from hardpoint.machinery.messages import User

Json = dict[str, Any]

EXEMPT, CATCH_ALL = "exempt", "catch-all"
_SERVICE_ACCOUNT = "system:serviceaccount:"


class Schema(NamedTuple):
    """A FlowSchema, made ready to be asked."""

    name: str
    uid: str
    level: str
    precedence: int
    rules: Sequence[Json]
    distinguisher: str = ""
    """`ByUser`, `ByNamespace`, or nothing: all its requests are one flow."""

    @staticmethod
    def of(obj: Json) -> Schema:
        spec = obj.get("spec") or {}
        return Schema(
            obj["metadata"]["name"],
            obj["metadata"].get("uid", ""),
            (spec.get("priorityLevelConfiguration") or {}).get("name", ""),
            spec.get("matchingPrecedence", 0),
            spec.get("rules") or (),
            (spec.get("distinguisherMethod") or {}).get("type", ""),
        )

    def matches(self, user: User, verb: str, where: Target) -> bool:
        return any(_rule_matches(rule, user, verb, where) for rule in self.rules)

    def flow_of(self, user: User, where: Target) -> str:
        """What tells this schema's flows apart."""
        if self.distinguisher == "ByUser":
            return user.name
        return where.namespace if self.distinguisher == "ByNamespace" else ""


_EVERYTHING = {
    "resourceRules": [
        {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "clusterScope": True, "namespaces": ["*"]}
    ],
    "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
}


def _of_groups(*groups: str) -> Json:
    return _EVERYTHING | {"subjects": [{"kind": "Group", "group": {"name": group}} for group in groups]}


MANDATORY = (
    Schema(EXEMPT, "", EXEMPT, 1, [_of_groups("system:masters")]),
    Schema(CATCH_ALL, "", CATCH_ALL, 10_000, [_of_groups("system:unauthenticated", "system:authenticated")], "ByUser"),
)
"""The schemas every server has, for as long as nobody has stored them."""


def in_order(objects: Iterable[Json]) -> list[Schema]:
    """The schemas of FlowSchema objects as they are asked, with the mandatory ones where they are missing."""
    stored = [Schema.of(obj) for obj in objects]
    names = {schema.name for schema in stored}
    stored += [schema for schema in MANDATORY if schema.name not in names]
    return sorted(stored, key=lambda schema: (schema.precedence, schema.name))


def deal(schema: str, flow: str, queues: int, hand_size: int) -> tuple[int, ...]:
    """The few queues of many that a flow may use: two flows hardly ever have all of them in common."""
    value = int.from_bytes(hashlib.sha256(f"{schema},{flow}".encode("utf-8", "replace")).digest()[:8], "little")
    hand: list[int] = []
    for dealt in range(min(hand_size, queues)):
        value, card = divmod(value, queues - dealt)
        for earlier in sorted(hand):
            card += card >= earlier
        hand.append(card)
    return tuple(hand)


def _rule_matches(rule: Json, user: User, verb: str, where: Target) -> bool:
    if not any(_is_subject(subject, user) for subject in rule.get("subjects") or ()):
        return False
    if where.resource:
        return any(_is_resource(each, verb, where) for each in rule.get("resourceRules") or ())
    return any(_is_path(each, verb, where.path) for each in rule.get("nonResourceRules") or ())


def _is_subject(subject: Json, user: User) -> bool:
    kind = subject.get("kind")
    if kind == "User":
        return (subject.get("user") or {}).get("name") in ("*", user.name)
    if kind == "Group":
        name = (subject.get("group") or {}).get("name")
        return name == "*" or name in user.groups
    if kind == "ServiceAccount":
        account = subject.get("serviceAccount") or {}
        prefix = f"{_SERVICE_ACCOUNT}{account.get('namespace', '')}:"
        if account.get("name") == "*":
            return user.name.startswith(prefix)
        return user.name == f"{prefix}{account.get('name', '')}"
    return False


def _is_resource(rule: Json, verb: str, where: Target) -> bool:
    resource = f"{where.resource}/{where.subresource}" if where.subresource else where.resource
    if not (_has(rule, "verbs", verb) and _has(rule, "resources", resource) and _has(rule, "apiGroups", where.group)):
        return False
    return _has(rule, "namespaces", where.namespace) if where.namespace else bool(rule.get("clusterScope"))


def _is_path(rule: Json, verb: str, path: str) -> bool:
    return _has(rule, "verbs", verb) and any(_leads(url, path) for url in rule.get("nonResourceURLs") or ())


def _leads(url: str, path: str) -> bool:
    """Whether a rule's URL covers a path: itself, and with or without a `*` at its end everything below."""
    if url in ("*", path):
        return True
    prefix = url.removesuffix("*")
    return path.startswith(prefix if prefix.endswith("/") else f"{prefix}/")


def _has(rule: Json, field: str, value: str) -> bool:
    values = rule.get(field) or ()
    return value in values or list(values) == ["*"]
