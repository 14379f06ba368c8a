"""The authorizers in their order: the first opinion counts, and none is a no."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple

from hardpoint.apiserver.authorization.contract import (
    NO_OPINION,
    Authorizer,
    Decision,
    Known,
    ListsRules,
    Opinion,
    Question,
)
from hardpoint.apiserver.authorization.metrics import AuthorizationMetrics
from hardpoint.apiserver.authorization.reasons import together
from hardpoint.machinery.messages import User


class Named(NamedTuple):
    """An authorizer, what refusals call it, and what else it can do."""

    name: str
    authorizer: Authorizer
    lists: ListsRules | None = None
    type: str = ""
    """What metrics call its sort; those without one are not counted."""
    close: Callable[[], Awaitable[None]] | None = None
    """Called when it is asked no more."""


class Authorization:
    """Asks one after the other, `always` first. Which ones may be replaced while questions are asked."""

    def __init__(
        self, authorizers: Sequence[Named], *, always: Named | None = None, metrics: AuthorizationMetrics | None = None
    ) -> None:
        self._always = () if always is None else (always,)
        self._authorizers = (*self._always, *authorizers)
        self.metrics = metrics or AuthorizationMetrics()

    def replace(self, authorizers: Sequence[Named]) -> Sequence[Named]:
        """Ask these from now on; returns those that are asked no more. Questions under way go on as they began."""
        kept = (*self._always, *authorizers)
        retired = [each for each in self._authorizers if each not in kept]
        self._authorizers = kept
        return retired

    async def close(self) -> None:
        for each in self._authorizers:
            if each.close is not None:
                await each.close()

    async def authorize(self, question: Question) -> Decision:
        """What the first authorizer with an opinion says; the reasons of those without one are told together."""
        reasons: list[str] = []
        problems: list[str] = []
        for name, authorizer, _, type, _ in self._authorizers:
            decision: Decision = await authorizer.authorize(question)
            if decision.opinion is not Opinion.NONE:
                if type:
                    self.metrics.decisions[type, name, "allowed" if decision.is_allowed else "denied"] += 1
                return decision
            if decision.reason:
                reasons.append(f"{name}: {decision.reason}")
            if decision.error:
                problems.append(decision.error)
        if not reasons and not problems:
            return NO_OPINION
        return Decision(Opinion.NONE, "\n".join(reasons), together(problems))

    async def rules_for(self, user: User, namespace: str) -> Known:
        """Everything that the authorizers which can list it would allow a user in a namespace."""
        found = [await each.lists.rules_for(user, namespace) for each in self._authorizers if each.lists is not None]
        return Known(
            rules=[rule for known in found for rule in known.rules],
            incomplete=any(known.incomplete for known in found),
            error=together([known.error for known in found if known.error]),
        )


_conforms: type[Authorizer] = Authorization
