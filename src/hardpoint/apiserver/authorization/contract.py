"""What an authorizer is: it is asked whether somebody may do something, and allows, denies, or has no opinion."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, Protocol

from hardpoint.apiserver.target import Target
from hardpoint.machinery import errors
from hardpoint.machinery.errors import ApiError
from hardpoint.machinery.messages import User


@dataclass(frozen=True, slots=True)
class Question:
    """May this user do this? `target.resource` is empty where the path itself is asked for."""

    user: User
    verb: str
    target: Target
    field_selector: str = ""
    """As the client sent it, with list, watch and deletecollection."""
    label_selector: str = ""

    def __str__(self) -> str:
        """As a refusal tells it."""
        target = self.target
        if not target.resource:
            return f'User "{self.user.name}" cannot {self.verb} path "{target.path}"'
        resource = f"{target.resource}/{target.subresource}" if target.subresource else target.resource
        where = f'in the namespace "{target.namespace}"' if target.namespace else "at the cluster scope"
        return f'User "{self.user.name}" cannot {self.verb} resource "{resource}" in API group "{target.group}" {where}'


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


def refusal(question: Question, decision: Decision) -> ApiError:
    """The 403 that tells who may not do what."""
    target = question.target
    why = f"{question}: {decision.reason}" if decision.reason else str(question)
    resource = f"{target.resource}.{target.group}" if target.group else target.resource
    return errors.forbidden(resource, target.name, why)
