"""Users and rules in a YAML file: an authenticator and an authorizer from it.

    users:
    - name: jane
      groups: [dev]
      tokenSHA256: 2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b
    rules:                                   # the first that fits decides
    - {groups: [dev], verbs: [delete], resources: [secrets], effect: deny}
    - {groups: [dev], verbs: ["*"], resources: ["*", deployments.apps], namespaces: [shop]}
    - {users: [jane], verbs: [get], paths: [/metrics]}

    HARDPOINT_USERS_FILE=users.yaml hardpoint run hardpoint.guests.file_users

The file holds digests, not tokens (`printf %s TOKEN | sha256sum`). It is read again when it changes; one that cannot be
read lets nobody in and denies nothing: reviews fail, and the cluster decides what that means.
"""

from __future__ import annotations

import hashlib
import hmac
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import yaml

from hardpoint import App
from hardpoint.authentication import User
from hardpoint.authorization import AccessRequest, Allowed, Denied, NoOpinion, ResourceAttributes, Verdict

USERS_FILE = "HARDPOINT_USERS_FILE"


class BadUsersFile(Exception):
    """The file says something that cannot be meant; the text names the place in it."""


@dataclass(frozen=True, slots=True)
class Rule:
    """Who may, or may not, do what. Empty `users` and `groups` are everybody; empty `namespaces` every place."""

    verbs: tuple[str, ...]
    users: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    """`pods`, `pods/log`, `deployments.apps`; `*` is every resource of every group, without subresources."""
    namespaces: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    """Paths that are no resources; one that ends in `*` is all that begin so."""
    effect: Literal["allow", "deny"] = "allow"

    def fits(self, request: AccessRequest) -> bool:
        if (self.users or self.groups) and not (
            request.user in self.users or any(group in self.groups for group in request.groups)
        ):
            return False
        resource, path = request.resourceAttributes, request.nonResourceAttributes
        if resource is not None:
            return _among(resource.verb, self.verbs) and self._covers(resource)
        return (
            path is not None and _among(path.verb, self.verbs) and any(_reaches(each, path.path) for each in self.paths)
        )

    def _covers(self, asked: ResourceAttributes) -> bool:
        name = f"{asked.resource}.{asked.group}" if asked.group else asked.resource
        is_named = (
            f"{name}/{asked.subresource}" in self.resources if asked.subresource else _among(name, self.resources)
        )
        return is_named and (not self.namespaces or asked.namespace in self.namespaces)


@dataclass(frozen=True, slots=True)
class Book:
    """What the file says."""

    users: tuple[tuple[str, User], ...] = field(default=(), repr=False)
    """Each with the digest of the token it is known by."""
    rules: tuple[Rule, ...] = ()

    def user(self, token: str) -> User | None:
        digest = hashlib.sha256(token.encode()).hexdigest()
        return next((user for known, user in self.users if hmac.compare_digest(known, digest)), None)

    def verdict(self, request: AccessRequest) -> Verdict:
        rule = next((rule for rule in self.rules if rule.fits(request)), None)
        if rule is None:
            return NoOpinion()
        return Denied("denied by the users file") if rule.effect == "deny" else Allowed("allowed by the users file")


def read(text: str) -> Book:
    """The book that a file holds. Raises BadUsersFile."""
    try:
        document = yaml.safe_load(text) or {}
    except yaml.YAMLError as cause:
        raise BadUsersFile(f"it is not YAML: {cause}") from cause
    _check_keys(document, "the file", ("users", "rules"))
    users = [_user(entry, f"users[{index}]") for index, entry in enumerate(document.get("users") or ())]
    rules = [_rule(entry, f"rules[{index}]") for index, entry in enumerate(document.get("rules") or ())]
    return Book(tuple(users), tuple(rules))


def _user(entry: Any, where: str) -> tuple[str, User]:
    _check_keys(entry, where, ("name", "uid", "groups", "tokenSHA256"))
    digest = str(entry.get("tokenSHA256", "")).lower()
    if len(digest) != 64 or not set(digest) <= set("0123456789abcdef"):
        raise BadUsersFile(f"{where}.tokenSHA256 must be 64 hexadecimal digits: printf %s TOKEN | sha256sum")
    if not isinstance(entry.get("name"), str) or not entry["name"]:
        raise BadUsersFile(f"{where}.name must be text; put it in quotes")
    return digest, User(entry["name"], _texts(entry, "groups", where), str(entry.get("uid", "")))


def _rule(entry: Any, where: str) -> Rule:
    lists = ("users", "groups", "verbs", "resources", "namespaces", "paths")
    _check_keys(entry, where, (*lists, "effect"))
    if entry.get("effect", "allow") not in ("allow", "deny"):
        raise BadUsersFile(f"{where}.effect must be allow or deny")
    if not entry.get("verbs") or not (entry.get("resources") or entry.get("paths")):
        raise BadUsersFile(f"{where} must have verbs, and resources or paths")
    return Rule(**{name: _texts(entry, name, where) for name in lists}, effect=entry.get("effect", "allow"))


def _check_keys(entry: Any, where: str, known: Sequence[str]) -> None:
    if not isinstance(entry, dict):
        raise BadUsersFile(f"{where} must be a mapping")
    strange = [key for key in entry if key not in known]
    if strange:
        raise BadUsersFile(f"{where} has {strange[0]!r}, which is none of {', '.join(known)}")


def _texts(entry: Any, name: str, where: str) -> tuple[str, ...]:
    value = entry.get(name) or []
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise BadUsersFile(f"{where}.{name} must be a list of texts; put them in quotes")
    return tuple(value)


def _among(text: str, allowed: Sequence[str]) -> bool:
    return "*" in allowed or text in allowed


def _reaches(pattern: str, path: str) -> bool:
    return path.startswith(pattern[:-1]) if pattern.endswith("*") else path == pattern


class UsersFile:
    """The file, read again when it has changed."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._seen: tuple[int, int, int] | None = None
        self._book = Book()

    def book(self) -> Book:
        """Raises OSError, BadUsersFile."""
        found = self._file.stat()
        seen = (found.st_ino, found.st_mtime_ns, found.st_size)
        if seen != self._seen:
            self._book = read(self._file.read_text())
            self._seen = seen
        return self._book


app = App("file-users")
_file = UsersFile(Path(os.environ.get(USERS_FILE, "users.yaml")))


@app.authenticator
def whose_token(token: str) -> User | None:
    """The user whose digest the file has."""
    return _file.book().user(token)


@app.authorizer
def decide(request: AccessRequest) -> Verdict:
    """What the first rule says that fits."""
    return _file.book().verdict(request)
