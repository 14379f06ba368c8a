"""What an author may write, for the type checker: `test_typing.py` has it looked at, and the wrong ones found."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import assert_type

from hardpoint import App
from hardpoint.audit import AuditEvent
from hardpoint.authentication import Identified, User
from hardpoint.authorization import AccessRequest, Allowed, Denied, NoOpinion, Verdict
from hardpoint.credential import ClientCertificate, ExecInfo, Token

app = App("typed")


@app.authenticator
def plain(token: str) -> User | None:
    return None


@app.authenticator(path="/aware")
async def aware(token: str, audiences: Sequence[str]) -> Identified | None:
    return None


@app.authorizer
def decide(request: AccessRequest) -> Verdict:
    if request.resourceAttributes is None:
        return NoOpinion()
    assert_type(request.resourceAttributes.verb, str)
    assert_type(request.groups, list[str])
    return Denied("no")


@app.authorizer(path="/only-yes")
async def only_yes(request: AccessRequest) -> Allowed:
    return Allowed()


@app.audit_sink
async def told(events: list[AuditEvent]) -> None:
    for event in events:
        assert_type(event.user.username, str)


@app.credential
def log_in(info: ExecInfo) -> Token | ClientCertificate:
    return Token("t")


assert_type(plain("t"), User | None)
only: Callable[[AccessRequest], Awaitable[Allowed]] = only_yes


@app.authenticator  # wrong
def takes_a_number(token: int) -> User | None:
    return None


@app.authenticator  # wrong
def returns_text(token: str) -> str:
    return token


@app.authorizer  # wrong
def returns_a_bool(request: AccessRequest) -> bool:
    return True


@app.audit_sink  # wrong
def takes_one(event: AuditEvent) -> None: ...


@app.credential  # wrong
def returns_a_secret(info: ExecInfo) -> str:
    return "t"
