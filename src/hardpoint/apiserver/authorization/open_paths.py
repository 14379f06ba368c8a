"""What everybody may ask: is the server alive, and which version is it."""

from __future__ import annotations

from hardpoint.apiserver.authorization.contract import NO_OPINION, Authorizer, Decision, Opinion, Question

PATHS = frozenset(("/healthz", "/livez", "/readyz", "/version", "/version/"))
PREFIXES = ("/healthz/", "/livez/", "/readyz/")
_ALLOWED = Decision(Opinion.ALLOW)


class OpenPaths:
    """Allows reading the paths that need no credentials."""

    async def authorize(self, question: Question) -> Decision:
        target = question.target
        is_open = not target.resource and question.verb in ("get", "head")
        if is_open and (target.path in PATHS or target.path.startswith(PREFIXES)):
            return _ALLOWED
        return NO_OPINION


_conforms: type[Authorizer] = OpenPaths
