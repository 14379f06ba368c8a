"""What an author may write, for the type checker: `test_typing.py` has it looked at, and the wrong ones found."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Any, ClassVar, Self, assert_type

from hardpoint import App
from hardpoint.audit import AuditEvent
from hardpoint.authentication import Identified, User
from hardpoint.authorization import AccessRequest, Allowed, Denied, NoOpinion, Verdict
from hardpoint.controller import Context, PlainContext, Requeue, Watch, generation_changed
from hardpoint.credential import ClientCertificate, ExecInfo, Token
from hardpoint.objects import Object

app = App("typed")


class Widget:
    """What a class with @app.resource is to a controller."""

    api_version: ClassVar[str] = "example.com/v1"
    kind: ClassVar[str] = "Widget"

    @classmethod
    def from_json(cls, json: dict[str, Any]) -> Self:
        return cls()

    def to_json(self) -> dict[str, Any]:
        return {}


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


@app.controller("v1 Service", owns=["v1 ConfigMap"])
async def follow(service: Object, ctx: Context) -> Requeue | None:
    assert_type(await ctx.get("v1 ConfigMap", "a"), Object | None)
    assert_type(await ctx.get(Widget, "a"), Widget | None)
    assert_type(await ctx.list(Widget), list[Widget])
    assert_type(await ctx.apply({"kind": "ConfigMap"}), dict[str, str])
    return Requeue(after=3)


async def clean(widget: Widget, ctx: Context) -> None: ...


@app.controller(Widget, finalize=clean, watches=[Watch("v1 Secret", to=lambda secret: ["a"])], when=generation_changed)
def build(widget: Widget, ctx: PlainContext) -> None:
    assert_type(ctx.get(Widget, "a"), Widget | None)
    assert_type(ctx.now, datetime)


@app.controller(Widget)  # wrong
async def takes_another(widget: str, ctx: Context) -> None: ...


@app.controller(Widget)  # wrong
async def returns_seconds(widget: Widget, ctx: Context) -> int:
    return 3


@app.controller(Widget)  # wrong
def cannot_wait(widget: Widget, ctx: Context) -> None: ...


@app.controller(Widget, wrokers=3)  # wrong
async def mistyped(widget: Widget, ctx: Context) -> None: ...
