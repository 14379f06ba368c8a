"""Who is asking, and whether they may.

There are two kinds of people: those whose client certificate puts them into `system:masters` may do
everything, everyone else may ask for the server's health and version and nothing more.
"""

from __future__ import annotations

from hardpoint.apiserver.target import Target
from hardpoint.machinery import errors
from hardpoint.machinery.messages import Request, User

ANONYMOUS = User("system:anonymous", ("system:unauthenticated",))
AUTHENTICATED = "system:authenticated"
MASTERS = "system:masters"
_OPEN_PATHS = frozenset(("/healthz", "/livez", "/readyz", "/version", "/version/"))
_OPEN_PREFIXES = ("/healthz/", "/livez/", "/readyz/")


def authenticate(request: Request) -> User:
    """The user behind a request. Raises 401 for credentials that are not valid; none at all are anonymous."""
    certificate = request.peer.certificate
    if certificate is not None:
        return User(certificate.name, (*certificate.groups, AUTHENTICATED), certificate.uid, certificate.extra)
    if "authorization" in request.headers:
        raise errors.unauthorized()
    return ANONYMOUS


def authorize(user: User, verb: str, target: Target) -> None:
    """Return if the user may, else raise 403."""
    if MASTERS in user.groups:
        return
    if not target.resource:
        if verb in ("get", "head") and (target.path in _OPEN_PATHS or target.path.startswith(_OPEN_PREFIXES)):
            return
        raise errors.forbidden("", "", f'User "{user.name}" cannot {verb} path "{target.path}"')
    resource = f"{target.resource}/{target.subresource}" if target.subresource else target.resource
    where = f'in the namespace "{target.namespace}"' if target.namespace else "at the cluster scope"
    why = f'User "{user.name}" cannot {verb} resource "{resource}" in API group "{target.group}" {where}'
    name = f"{target.resource}.{target.group}" if target.group else target.resource
    raise errors.forbidden(name, target.name, why)
