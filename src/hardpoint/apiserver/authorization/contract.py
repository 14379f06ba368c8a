"""What an authorizer is: it is asked whether somebody may do something, and allows, denies, or has no opinion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any, NamedTuple, Protocol

from hardpoint.apiserver.target import Target
from hardpoint.machinery import errors
from hardpoint.machinery.errors import ApiError
from hardpoint.machinery.fielderrors import quote
from hardpoint.machinery.messages import User

Json = Mapping[str, Any]

# What a refusal repeats of a question must not pass for markup where somebody shows it.
_HARMLESS = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


class Question(NamedTuple):
    """May this user do this?"""

    user: User
    verb: str
    target: Target
    field_selector: str = ""
    """As the client sent it, with list, watch and deletecollection."""
    label_selector: str = ""

    @property
    def is_about_resource(self) -> bool:
        """Whether a resource is asked for, not the path itself; a review may ask for a resource without a name."""
        return bool(self.target.resource or self.target.version)

    def __str__(self) -> str:
        """As a refusal tells it."""
        target, who = self.target, f"User {quote(self.user.name)} cannot {self.verb}"
        if not self.is_about_resource:
            return f"{who} path {quote(target.path)}".translate(_HARMLESS)
        resource = f"{target.resource}/{target.subresource}" if target.subresource else target.resource
        where = f"in the namespace {quote(target.namespace)}" if target.namespace else "at the cluster scope"
        told = f"{who} resource {quote(resource)} in API group {quote(target.group)} {where}"
        return told.translate(_HARMLESS)


class Opinion(Enum):
    ALLOW = "allow"
    DENY = "deny"
    """Nobody else is asked."""
    NONE = "no opinion"
    """The next authorizer is asked; if there is none, that is a no."""


class Decision(NamedTuple):
    opinion: Opinion
    reason: str = ""
    """For people: added to the refusal, and to the audit log."""
    error: str = ""
    """What went wrong while deciding, for the answer to a SubjectAccessReview."""

    @property
    def is_allowed(self) -> bool:
        return self.opinion is Opinion.ALLOW


NO_OPINION = Decision(Opinion.NONE)


class Authorizer(Protocol):
    """Decides, from memory if it can: it is asked before every request. Calls overlap."""

    async def authorize(self, question: Question) -> Decision: ...


class Known(NamedTuple):
    """What a user may do in a namespace, as far as an authorizer can list it."""

    rules: Sequence[Json] = ()
    """PolicyRules as roles have them."""
    incomplete: bool = False
    """Whether the user may do more than that."""
    error: str = ""
    """What stood in the way of listing it."""


class ListsRules(Protocol):
    """An authorizer that can tell all it would allow somebody."""

    async def rules_for(self, user: User, namespace: str) -> Known: ...


def refusal(question: Question, decision: Decision) -> ApiError:
    """The 403 that tells who may not do what, and why if there is anything to say; a 500 if nobody could decide."""
    if decision.error:
        return errors.internal_error(decision.error)
    target = question.target
    why = f"{question}: {decision.reason}" if decision.reason else str(question)
    resource = f"{target.resource}.{target.group}" if target.group else target.resource
    return errors.forbidden(resource, target.name, why)
