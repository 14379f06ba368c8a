"""Which requests are audited, and how closely: the rules of an audit policy, the first that matches counts.

The rules are kube-apiserver's with one exception: whatever a policy says, what is known to hold secrets is told by
its metadata only. Most policies look at a few traits of a request, so verdicts are kept by just these.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from hardpoint.apiserver.target import Target
from hardpoint.machinery.messages import User
from hardpoint.seams.audit.contract import Level, Stage

LEVELS: tuple[Level, ...] = ("None", "Metadata", "Request", "RequestResponse")
STAGES: tuple[Stage, ...] = ("RequestReceived", "ResponseStarted", "ResponseComplete", "Panic")

_VERDICTS_MAX = 4096
_REMEMBERED_LENGTH_MAX = 1024
"""Strangers write long paths; those are not worth the memory."""
_HOLDS_SECRETS = frozenset(
    (
        ("", "secrets", ""),
        ("", "serviceaccounts", "token"),
        ("authentication.k8s.io", "tokenreviews", ""),
    )
)


def holds_secrets(where: Target) -> bool:
    """Whether objects sent to, or answered by, this place are never written down."""
    return (where.group, where.resource, where.subresource) in _HOLDS_SECRETS


class Verdict(NamedTuple):
    """How a request is audited."""

    level: Level
    omit_stages: frozenset[Stage] = frozenset()
    omit_managed_fields: bool = False

    @property
    def tells_requests(self) -> bool:
        return self.level in ("Request", "RequestResponse")

    @property
    def tells_responses(self) -> bool:
        return self.level == "RequestResponse"


class GroupResources(NamedTuple):
    """Resources of one group; no resources are all of them, no names are all objects."""

    group: str = ""
    resources: tuple[str, ...] = ()
    names: tuple[str, ...] = ()

    def covers(self, where: Target) -> bool:
        if self.group not in (where.group, "*"):
            return False
        if not self.resources:
            return True
        if self.names and where.name not in self.names:
            return False
        return any(_covers(resource, where) for resource in self.resources)


def _covers(resource: str, where: Target) -> bool:
    part = where.subresource
    if resource in ("*", f"{where.resource}/{part}" if part else where.resource):
        return True
    return resource == f"{where.resource}/*" or (bool(part) and resource == f"*/{part}")


class Rule(NamedTuple):
    """Requests that have every trait named here; a trait without values is had by all."""

    verdict: Verdict
    users: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    verbs: tuple[str, ...] = ()
    resources: tuple[GroupResources, ...] = ()
    namespaces: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    """Of what is no resource; a `*` at the end stands for any rest."""

    def matches(self, user: User | None, verb: str, where: Target) -> bool:
        if self.users and (user is None or user.name not in self.users):
            return False
        if self.groups and (user is None or not set(self.groups).intersection(user.groups)):
            return False
        if self.verbs and verb not in self.verbs:
            return False
        if self.namespaces or self.resources:
            return bool(where.resource) and self._matches_resource(where)
        return not self.paths or (not where.resource and any(_leads(path, where.path) for path in self.paths))

    def _matches_resource(self, where: Target) -> bool:
        if self.namespaces and where.namespace not in self.namespaces:
            return False
        return not self.resources or any(resources.covers(where) for resources in self.resources)


def _leads(pattern: str, path: str) -> bool:
    if pattern.endswith("*"):
        return path.startswith(pattern.rstrip("*"))
    return pattern == path


NOT_AUDITED = Verdict("None")
Trait = Callable[[User | None, str, Target], Any]


class Policy:
    """The rules in their order. What no rule matches is not audited."""

    def __init__(self, rules: Sequence[Rule], unmatched: Verdict = NOT_AUDITED) -> None:
        self._rules = tuple(rules)
        self._unmatched = unmatched
        self._traits = _traits_of(self._rules)
        self._verdicts: dict[Any, Verdict] = {}
        """By the traits that are looked at; by the trait itself where it is the only one."""

    def evaluate(self, user: User | None, verb: str, where: Target) -> Verdict:
        """How this request is audited; `user` is None for one whose credentials are not good."""
        if len(where.path) > _REMEMBERED_LENGTH_MAX:
            return self._decide(user, verb, where)
        traits = self._traits
        key = traits[0](user, verb, where) if len(traits) == 1 else tuple([each(user, verb, where) for each in traits])
        verdict = self._verdicts.get(key)
        if verdict is None:
            if len(self._verdicts) >= _VERDICTS_MAX:
                self._verdicts.clear()
            verdict = self._verdicts[key] = self._decide(user, verb, where)
        return verdict

    def _decide(self, user: User | None, verb: str, where: Target) -> Verdict:
        matching = (rule.verdict for rule in self._rules if rule.matches(user, verb, where))
        verdict = next(matching, self._unmatched)
        if verdict.tells_requests and holds_secrets(where):
            return Verdict("Metadata", verdict.omit_stages, verdict.omit_managed_fields)
        return verdict


def _traits_of(rules: tuple[Rule, ...]) -> tuple[Trait, ...]:
    """What these rules look at."""
    traits: list[Trait] = []
    if any(rule.users for rule in rules):
        traits.append(lambda user, _verb, _where: user.name if user else None)
    if any(rule.groups for rule in rules):
        traits.append(lambda user, _verb, _where: user.groups if user else None)
    if any(rule.verbs for rule in rules):
        traits.append(lambda _user, verb, _where: verb)
    if any(rule.namespaces for rule in rules):
        traits.append(lambda _user, _verb, where: where.namespace)
    if any(names.names for rule in rules for names in rule.resources):
        traits.append(lambda _user, _verb, where: where.name)
    if any(rule.paths for rule in rules):
        traits.append(lambda _user, _verb, where: where.resource or where.path)
    if any(rule.resources or rule.verdict.tells_requests for rule in rules):
        # Also where no rule names resources: those that hold secrets are told apart.
        traits.append(lambda _user, _verb, where: (where.group, where.resource, where.subresource))
    elif any(rule.namespaces or rule.paths for rule in rules):
        traits.append(lambda _user, _verb, where: bool(where.resource))
    return tuple(traits)


WRITES = ("create", "update", "patch", "delete", "deletecollection", "post", "put", "")

WRITES_ONLY = Policy([Rule(Verdict("Metadata", frozenset(("RequestReceived", "ResponseStarted"))), verbs=WRITES)])
"""What a cluster of ours does unless told otherwise: one event for each write."""

__all__ = ["LEVELS", "STAGES", "WRITES_ONLY", "GroupResources", "Policy", "Rule", "Verdict", "holds_secrets"]
