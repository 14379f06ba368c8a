"""Acting as somebody else: the Impersonate-* headers, for those whom the authorizer lets.

There are several ways to be allowed (`impersonation_modes.py`). They are tried in order, beginning with the one that
last worked for the same user, and a refusal tells why the first that was tried failed: that is how kube-apiserver
words it. Ignoring the headers would be worse than refusing them: whoever asks to be a lesser user would act with their
own power.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import unquote

from hardpoint.apiserver.authorization.contract import Authorizer, Question
from hardpoint.apiserver.impersonation_modes import MODES, attempt
from hardpoint.machinery import errors
from hardpoint.machinery.errors import ApiError
from hardpoint.machinery.fielderrors import quote
from hardpoint.machinery.messages import User

REMEMBERED_MAX = 10_000
_PREFIX = "impersonate-"
_EXTRA = "impersonate-extra-"


class Acting(NamedTuple):
    """Whom a request is made as."""

    user: User
    constraint: str = ""
    """The verb that allowed it, if not plain `impersonate`."""


def is_asked(headers: Mapping[str, str]) -> bool:
    """Whether a request wants to be made as somebody else."""
    return _PREFIX in "\n".join(headers)  # One look at all names: nearly every request has none.


class Impersonation:
    """Lets users act as others."""

    def __init__(self, authorizer: Authorizer) -> None:
        self._authorizer = authorizer
        self._worked: dict[str, int] = {}
        """Which mode a user was last allowed."""

    async def acting_as(self, headers: Mapping[str, str], asked: Question) -> Acting:
        """Whom a request is made as. Raises 400 if it names groups, a uid or extra but no user, 403 for who may not.

        `asked` is what the request wants, by the user who sent it.
        """
        wanted = _wanted(headers)
        worked = self._worked.get(asked.user.name)
        order = range(len(MODES)) if worked is None else (worked, *(n for n in range(len(MODES)) if n != worked))
        refused: ApiError | None = None
        for number in order:
            mode = MODES[number]
            if not mode.concerns(wanted, asked.user):
                continue
            try:
                user = await attempt(mode, wanted, asked, self._authorizer)
            except ApiError as no:
                refused = refused or no
                continue
            self._remember(asked.user.name, number)
            return Acting(user, mode.constraint)
        assert refused is not None, "the last mode is for everybody"
        raise refused

    def _remember(self, name: str, mode: int) -> None:
        if len(self._worked) >= REMEMBERED_MAX and name not in self._worked:
            self._worked.clear()
        self._worked[name] = mode


def _wanted(headers: Mapping[str, str]) -> User:
    """The user that the headers describe. Raises 400 if they leave the name out."""
    extra: dict[str, tuple[str, ...]] = {}
    for header, value in headers.items():
        if header.startswith(_EXTRA):
            key = unquote(header.removeprefix(_EXTRA))
            extra[key] = (*extra.get(key, ()), *_values(value))
    name, uid = headers.get("impersonate-user", ""), headers.get("impersonate-uid", "")
    groups = _values(headers["impersonate-group"]) if "impersonate-group" in headers else ()
    if not name:
        raise errors.bad_request(f"requested {_printed(uid, groups, extra)} without impersonating a user name")
    return User(name, groups, uid, extra)


def _values(joined: str) -> tuple[str, ...]:
    # The transport joins what was sent several times by line feeds: the values may hold commas.
    return tuple(joined.split("\n"))


def _printed(uid: str, groups: tuple[str, ...], extra: Mapping[str, tuple[str, ...]]) -> str:
    """A user without a name, as Go prints one."""
    told = ", ".join(f"{quote(key)}:{_strings(values)}" for key, values in sorted(extra.items()))
    extras = f"map[string][]string{{{told}}}" if extra else "map[string][]string(nil)"
    return f'&user.DefaultInfo{{Name:"", UID:{quote(uid)}, Groups:{_strings(groups)}, Extra:{extras}}}'


def _strings(values: tuple[str, ...]) -> str:
    return f"[]string{{{', '.join(map(quote, values))}}}" if values else "[]string(nil)"
