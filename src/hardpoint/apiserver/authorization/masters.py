"""The group that may do everything, whatever the roles say: without it nobody could mend broken roles."""

from __future__ import annotations

from hardpoint.apiserver.authentication.contract import MASTERS
from hardpoint.apiserver.authorization.contract import NO_OPINION, Authorizer, Decision, Opinion, Question

_ALLOWED = Decision(Opinion.ALLOW)


class Masters:
    """Allows everything to the members of `system:masters`."""

    async def authorize(self, question: Question) -> Decision:
        return _ALLOWED if MASTERS in question.user.groups else NO_OPINION


_conforms: type[Authorizer] = Masters
