"""Acting as somebody else: the Impersonate-* headers, which only those may use who may do everything anyway.

Ignoring them would be worse than refusing them: whoever asks to be a lesser user would act with their own power.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import unquote

from hardpoint.apiserver.authentication.contract import ANONYMOUS, AUTHENTICATED, MASTERS
from hardpoint.machinery import errors
from hardpoint.machinery.messages import User

_PREFIX = "impersonate-"
_EXTRA = "impersonate-extra-"
_UNAUTHENTICATED = "system:unauthenticated"
_SERVICE_ACCOUNT = "system:serviceaccount:"


def acting_as(user: User, headers: Mapping[str, str]) -> User:
    """Whom this request is made as. Raises 400 for groups, uid or extra without a user, 403 for those who may not."""
    asked = {name: value for name, value in headers.items() if name.startswith(_PREFIX)}
    if not asked:
        return user
    name = asked.get("impersonate-user", "")
    if not name:
        raise errors.bad_request(f"requested {', '.join(sorted(asked))} without impersonating a user")
    if MASTERS not in user.groups:
        why = f'User "{user.name}" cannot impersonate resource "users" in API group "" at the cluster scope'
        raise errors.forbidden("users", name, why)
    extra = {
        unquote(header.removeprefix(_EXTRA)): _values(value)
        for header, value in asked.items()
        if header.startswith(_EXTRA)
    }
    groups = _values(asked.get("impersonate-group", ""))
    return User(name, _with_implied_groups(name, groups), asked.get("impersonate-uid", ""), extra)


def _with_implied_groups(name: str, groups: tuple[str, ...]) -> tuple[str, ...]:
    if not groups and name.startswith(_SERVICE_ACCOUNT) and name.count(":") == 3:
        groups = ("system:serviceaccounts", f"system:serviceaccounts:{name.split(':')[2]}")
    if name == ANONYMOUS.name:
        return groups if _UNAUTHENTICATED in groups else (*groups, _UNAUTHENTICATED)
    return groups if {AUTHENTICATED, _UNAUTHENTICATED} & set(groups) else (*groups, AUTHENTICATED)


def _values(joined: str) -> tuple[str, ...]:
    # The transport joins what was sent several times by line feeds: the values may hold commas.
    return tuple(joined.split("\n")) if joined else ()
