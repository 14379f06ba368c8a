"""Asking whether somebody may do something: `authorizer.group('apps').resource('deployments').check('get').allowed()`.

The functions are always there; what makes them of use is a variable of type AUTHORIZER or RESOURCE_CHECK, which
conditions and policies of admission have, and rules of custom resources have not. A check is a plain value until it is
asked; who answers is handed in as `decide`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hardpoint.machinery import names
from hardpoint.machinery.cel.costs import LIST, OBJECT, read
from hardpoint.machinery.cel.errors import EvaluationError
from hardpoint.machinery.cel.functions import Overload, member
from hardpoint.machinery.cel.types import BOOL, STRING, opaque
from hardpoint.machinery.cel.values import Opaque, size_of

AUTHORIZER = opaque("kubernetes.authorization.Authorizer")
PATH_CHECK = opaque("kubernetes.authorization.PathCheck")
GROUP_CHECK = opaque("kubernetes.authorization.GroupCheck")
RESOURCE_CHECK = opaque("kubernetes.authorization.ResourceCheck")
DECISION = opaque("kubernetes.authorization.Decision")

CHECK_COST = 350_000
"""Two in one expression, and no more."""


@dataclass(frozen=True, slots=True)
class Check:
    """What is asked: may `user`, or whoever sent the request if it is empty, do this. It has a path or a resource."""

    verb: str = ""
    user: str = ""
    """A service account, `system:serviceaccount:<namespace>:<name>`."""
    path: str = ""
    group: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    field_selector: str = ""
    label_selector: str = ""


@dataclass(frozen=True, slots=True)
class Decision(Opaque):
    """The answer."""

    type_name = DECISION.name

    allowed: bool
    reason: str = ""
    error: str = ""
    """Why the question could not be answered, if it could not."""


Decide = Callable[[Check], Decision]
"""Answers at once. What it raises comes out of the evaluation: whoever must wait for an answer may raise, wait, and
evaluate again with the answer at hand."""


@dataclass(frozen=True, slots=True)
class _Asked(Opaque):
    """A check in the making, and who will decide."""

    decide: Decide
    check: Check = Check()

    def with_(self, **parts: str) -> Check:
        return replace(self.check, **parts)


class Authorizer(_Asked):
    """The value of a variable `authorizer`."""

    __slots__ = ()
    type_name = AUTHORIZER.name


class PathCheck(_Asked):
    __slots__ = ()
    type_name = PATH_CHECK.name


class GroupCheck(_Asked):
    __slots__ = ()
    type_name = GROUP_CHECK.name


class ResourceCheck(_Asked):
    """A resource that is asked about; the value of a variable `authorizer.requestResource`."""

    __slots__ = ()
    type_name = RESOURCE_CHECK.name


def _path(authorizer: Authorizer, path: str) -> PathCheck:
    if not path.strip():
        raise EvaluationError("path must not be empty")
    return PathCheck(authorizer.decide, authorizer.with_(path=path))


def _group(authorizer: Authorizer, group: str) -> GroupCheck:
    return GroupCheck(authorizer.decide, authorizer.with_(group=group))


def _service_account(authorizer: Authorizer, namespace: str, name: str) -> Authorizer:
    if names.dns_subdomain(name):
        raise EvaluationError("Invalid service account name")
    if names.dns_label(namespace):
        raise EvaluationError("Invalid service account namespace")
    return Authorizer(authorizer.decide, authorizer.with_(user=f"system:serviceaccount:{namespace}:{name}"))


def _resource(group: GroupCheck, resource: str) -> ResourceCheck:
    if not resource.strip():
        raise EvaluationError("resource must not be empty")
    return ResourceCheck(group.decide, group.with_(resource=resource))


def _narrowed(function: str, part: str, cost: int | Callable[[Sequence[Any]], int] = 1) -> Overload:
    """A function that says more about the resource."""

    def of(check: ResourceCheck, value: str) -> ResourceCheck:
        return ResourceCheck(check.decide, check.with_(**{part: value}))

    return member(function, (RESOURCE_CHECK, STRING), RESOURCE_CHECK, of, cost=cost)


def _check(check: PathCheck | ResourceCheck, verb: str) -> Decision:
    return check.decide(check.with_(verb=verb))


def _selector_cost(arguments: Sequence[Any]) -> int:
    """Every second character may begin a requirement, an object with a list."""
    size = size_of(arguments[1])
    return LIST + read(size) + (size + 1) // 2 * (LIST + OBJECT)


OVERLOADS = (
    member("path", (AUTHORIZER, STRING), PATH_CHECK, _path),
    member("group", (AUTHORIZER, STRING), GROUP_CHECK, _group),
    member("serviceAccount", (AUTHORIZER, STRING, STRING), AUTHORIZER, _service_account),
    member("resource", (GROUP_CHECK, STRING), RESOURCE_CHECK, _resource),
    _narrowed("subresource", "subresource"),
    _narrowed("namespace", "namespace"),
    _narrowed("name", "name"),
    _narrowed("fieldSelector", "field_selector", _selector_cost),
    _narrowed("labelSelector", "label_selector", _selector_cost),
    member("check", (PATH_CHECK, STRING), DECISION, _check, cost=CHECK_COST),
    member("check", (RESOURCE_CHECK, STRING), DECISION, _check, cost=CHECK_COST),
    member("allowed", (DECISION,), BOOL, lambda decision: decision.allowed),
    member("reason", (DECISION,), STRING, lambda decision: decision.reason),
    member("errored", (DECISION,), BOOL, lambda decision: bool(decision.error)),
    member("error", (DECISION,), STRING, lambda decision: decision.error),
)
