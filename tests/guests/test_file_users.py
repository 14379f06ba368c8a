"""Users and rules in a file."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

from hardpoint.authentication import User
from hardpoint.authorization import AccessRequest, Allowed, Denied, NoOpinion, Verdict
from hardpoint.guests.file_users import BadUsersFile, UsersFile, read

TOKEN = "s3cr3t-t0k3n"
DIGEST = hashlib.sha256(TOKEN.encode()).hexdigest()
FILE = f"""
users:
- {{name: jane, groups: [dev], uid: 42, tokenSHA256: {DIGEST}}}
rules:
- {{groups: [dev], verbs: [delete], resources: [secrets], effect: deny}}
- {{groups: [dev], verbs: ["*"], resources: [secrets, pods, pods/log, deployments.apps], namespaces: [shop]}}
- {{users: [jane], verbs: [get], paths: [/metrics, /debug/*]}}
- {{verbs: [get], resources: ["*"], namespaces: [public]}}
"""


def resource(
    verb: str, name: str, *, who: str = "ann", groups: tuple[str, ...] = ("dev",), **more: str
) -> AccessRequest:
    attributes = {"verb": verb, "resource": name, "namespace": "shop", **more}
    return AccessRequest({"user": who, "groups": list(groups), "resourceAttributes": attributes})


def path(verb: str, name: str, who: str = "jane") -> AccessRequest:
    return AccessRequest({"user": who, "nonResourceAttributes": {"verb": verb, "path": name}})


def test_whose_token() -> None:
    book = read(FILE)
    assert book.user(TOKEN) == User("jane", ("dev",), "42")
    assert book.user(DIGEST) is None
    assert book.user("") is None
    assert TOKEN not in repr(book)
    assert DIGEST not in repr(book)


@pytest.mark.parametrize(
    ("request_", "verdict"),
    [
        (resource("get", "pods"), Allowed),
        (resource("delete", "secrets"), Denied),
        (resource("get", "secrets"), Allowed),
        (resource("get", "pods", namespace="other"), NoOpinion),
        (resource("get", "pods", namespace=""), NoOpinion),
        (resource("get", "pods", subresource="log"), Allowed),
        (resource("create", "pods", subresource="exec"), NoOpinion),
        (resource("get", "deployments", group="apps"), Allowed),
        (resource("get", "deployments", group="example.com"), NoOpinion),
        (resource("get", "pods", group="metrics.k8s.io"), NoOpinion),
        (resource("get", "pods", groups=()), NoOpinion),
        (resource("get", "pods", who="dev", groups=()), NoOpinion),
        (resource("get", "pods", groups=("developers",)), NoOpinion),
        (resource("get", "anything", namespace="public", groups=()), Allowed),
        (resource("get", "anything", namespace="public", subresource="log", groups=()), NoOpinion),
        (path("get", "/metrics"), Allowed),
        (path("get", "/debug/pprof"), Allowed),
        (path("get", "/metrics/x"), NoOpinion),
        (path("post", "/metrics"), NoOpinion),
        (path("get", "/metrics", "ann"), NoOpinion),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else str(value.json),
)
def test_the_first_rule_that_fits_decides(request_: AccessRequest, verdict: type[Verdict]) -> None:
    assert isinstance(read(FILE).verdict(request_), verdict)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[", "not YAML"),
        ("- a", "the file must be a mapping"),
        ("user: []", "the file has 'user', which is none of users, rules"),
        ("users: [jane]", r"users\[0\] must be a mapping"),
        ("users: [{name: jane, token: abc}]", r"users\[0\] has 'token'"),
        ("users: [{name: jane, tokenSHA256: abc}]", r"users\[0\].tokenSHA256 must be 64 hexadecimal digits"),
        (f"users: [{{name: 7, tokenSHA256: {DIGEST}}}]", r"users\[0\].name must be text"),
        (f"users: [{{name: a, groups: dev, tokenSHA256: {DIGEST}}}]", r"users\[0\].groups must be a list"),
        ("rules: [{verbs: [get]}]", r"rules\[0\] must have verbs, and resources or paths"),
        ("rules: [{verbs: [get], paths: [/a], effect: perhaps}]", r"rules\[0\].effect must be allow or deny"),
    ],
)
def test_a_file_that_cannot_be_meant_is_refused(text: str, words: str) -> None:
    with pytest.raises(BadUsersFile, match=words):
        read(text)


def test_a_changed_file_counts_at_once_and_a_broken_one_knows_nobody(tmp_path: Path) -> None:
    file = tmp_path / "users.yaml"
    file.write_text(FILE)
    users = UsersFile(file)
    assert users.book().user(TOKEN) is not None
    file.write_text("users: []")
    assert users.book().user(TOKEN) is None
    file.write_text("users: [")
    with pytest.raises(BadUsersFile):
        users.book()
    file.unlink()
    with pytest.raises(FileNotFoundError):
        users.book()


def test_it_is_an_app_like_any_other() -> None:
    from hardpoint.sdk.loading import load

    app: Any = load("hardpoint.guests.file_users").app
    assert {guest.seam for guest in app.webhooks.values()} == {"authentication", "authorization"}
