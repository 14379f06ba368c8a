"""The authorizers in their order: the first opinion counts, and none is a no."""

from __future__ import annotations

from collections.abc import Sequence

from hardpoint.apiserver.authorization.contract import NO_OPINION, Authorizer, Decision, Opinion, Question


class Authorization:
    """Asks one after the other."""

    def __init__(self, authorizers: Sequence[Authorizer]) -> None:
        self._authorizers = authorizers

    async def authorize(self, question: Question) -> Decision:
        """What the first authorizer with an opinion says; the reasons of those without one are told together."""
        reasons: list[str] = []
        problems: list[str] = []
        for authorizer in self._authorizers:
            decision = await authorizer.authorize(question)
            if decision.opinion is not Opinion.NONE:
                return decision
            if decision.reason:
                reasons.append(decision.reason)
            if decision.error:
                problems.append(decision.error)
        return Decision(Opinion.NONE, ", ".join(reasons), ", ".join(problems)) if reasons or problems else NO_OPINION


_conforms: type[Authorizer] = Authorization
