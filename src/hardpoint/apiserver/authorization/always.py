"""The authorizers that do not look at the question: for tests, and for shutting everything."""

from __future__ import annotations

from hardpoint.apiserver.authorization.contract import Authorizer, Decision, Known, Opinion, Question
from hardpoint.machinery.messages import User

_ALLOWED = Decision(Opinion.ALLOW)
_NOT_ALLOWED = Decision(Opinion.NONE, "Everything is forbidden.")
_EVERYTHING = Known(
    rules=(
        {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]},
        {"verbs": ["*"], "nonResourceURLs": ["*"]},
    )
)


class AlwaysAllow:
    """Allows everything to everybody. Where it is asked, nobody is anonymous: they are refused before."""

    async def authorize(self, question: Question) -> Decision:
        return _ALLOWED

    async def rules_for(self, user: User, namespace: str) -> Known:
        return _EVERYTHING


class AlwaysDeny:
    """Allows nothing. Members of `system:masters` are asked for before it."""

    async def authorize(self, question: Question) -> Decision:
        return _NOT_ALLOWED

    async def rules_for(self, user: User, namespace: str) -> Known:
        return Known()


_allows: type[Authorizer] = AlwaysAllow
_denies: type[Authorizer] = AlwaysDeny
