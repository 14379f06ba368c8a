"""Registering: what is looked at when a file is loaded, and which line is named."""

from __future__ import annotations

from typing import Any

import pytest

from hardpoint import App
from hardpoint.audit import AuditEvent
from hardpoint.authentication import User
from hardpoint.authorization import AccessRequest, NoOpinion, Verdict
from hardpoint.credential import Token
from hardpoint.machinery.errors import ConfigError


def nobody(token: str) -> User | None:
    return None


def undecided(request: AccessRequest) -> Verdict:
    return NoOpinion()


def deaf(events: list[AuditEvent]) -> None: ...


def test_a_decorator_returns_the_function_as_it_was() -> None:
    app = App("test")
    assert app.authenticator(nobody) is nobody
    assert app.authorizer(path="/rules")(undecided) is undecided
    assert app.audit_sink(deaf) is deaf
    assert {path: guest.seam for path, guest in app.webhooks.items()} == {
        "/authenticate": "authentication",
        "/rules": "authorization",
        "/audit": "audit",
    }

    def log_in() -> Token:
        return Token("t")

    assert app.credential(log_in) is log_in
    assert app.credential_plugin is not None


@pytest.mark.parametrize("name", ["", "Upper", "with space", "-dash", "x" * 64, 7, None])
def test_a_name_that_is_none_is_refused_with_its_line(name: Any) -> None:
    with pytest.raises(ConfigError, match=r"test_app.py:\d+: App\("):
        App(name)


@pytest.mark.parametrize("path", ["", "/", "badges", "/a b", "/a/", "/a?b", "/%2e", "//a", "/metrics", "/livez", 7])
@pytest.mark.parametrize("decorator", ["authenticator", "authorizer", "audit_sink"])
def test_a_path_that_cannot_be_served_is_refused_with_its_line(decorator: str, path: Any) -> None:
    with pytest.raises(ConfigError, match=rf"test_app.py:\d+: @app.{decorator}: path="):
        getattr(App("test"), decorator)(path=path)


def test_two_functions_at_one_path_name_each_other() -> None:
    app = App("test")
    app.authenticator(nobody)
    with pytest.raises(
        ConfigError, match=r"test_app.py:\d+: .* is served at /authenticate, where .*test_app.py:\d+ is"
    ):
        app.authenticator(nobody)
    app.authenticator(path="/second")(nobody)
    assert set(app.webhooks) == {"/authenticate", "/second"}


def test_arguments_have_names() -> None:
    with pytest.raises(TypeError):
        App("test").authenticator(nobody, "/path")  # type: ignore[call-overload]  # that is the point
