"""Controllers between two strangers: an API server that says anything, and functions that do anything.

Whatever either does concerns one object: the others are looked at, and the program goes on.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import orjson
import pytest

from hardpoint.cli.logs import LineFormatter
from hardpoint.client.client import Client
from hardpoint.client.resources import Resource
from hardpoint.client.transport import BadAnswer
from hardpoint.controller import Context, Requeue
from hardpoint.machinery.messages import Request, Response
from hardpoint.runtime.changes import Change
from hardpoint.runtime.informer import Followed, Informer
from hardpoint.seams.controller.guest.controller import ControllerGuest
from tests.definitions import definition
from tests.hostile.liveliness import staying_lively
from tests.observing import ADMIN
from tests.seams.controller.world import Widget, World, widget, world

Json = dict[str, Any]

PATIENCE_SECONDS = 20.0
WIDGETS = Resource("example.com/v1", "widgets", "Widget")


class Odd(BaseException):
    pass


async def exits(seen: Widget, ctx: Context) -> None:
    raise SystemExit(3)


async def presses_a_key(seen: Widget, ctx: Context) -> None:
    raise KeyboardInterrupt


async def raises_what_nobody_catches(seen: Widget, ctx: Context) -> None:
    raise Odd("odd")


async def raises_a_group(seen: Widget, ctx: Context) -> None:
    raise BaseExceptionGroup("several", [SystemExit(1)])


async def says_it_is_cancelled(seen: Widget, ctx: Context) -> None:
    raise asyncio.CancelledError


async def cancels_itself(seen: Widget, ctx: Context) -> None:
    task = asyncio.current_task()
    assert task is not None
    task.cancel()
    await asyncio.sleep(0)


async def cancels_itself_at_the_end(seen: Widget, ctx: Context) -> None:
    task = asyncio.current_task()
    assert task is not None
    task.cancel()


async def never_ends(seen: Widget, ctx: Context) -> None:
    await asyncio.Event().wait()


async def returns_junk(seen: Widget, ctx: Context) -> Any:
    return {"after": 5}


async def comes_back_at_no_time(seen: Widget, ctx: Context) -> Requeue:
    return Requeue(after=float("nan"))


async def comes_back_at_once(seen: Widget, ctx: Context) -> Requeue:
    return Requeue(after=0)


async def destroys_what_it_is_given(seen: Widget, ctx: Context) -> None:
    seen.json["metadata"].clear()
    seen.json.clear()


async def leaves_a_status_without_end(seen: Widget, ctx: Context) -> None:
    seen.status = {}
    seen.status["status"] = seen.status


async def tells_too_much(seen: Widget, ctx: Context) -> None:
    for number in range(2_000):
        ctx.event("Normal", "Told", f"{number}")


FUNCTIONS = [
    exits,
    presses_a_key,
    raises_what_nobody_catches,
    raises_a_group,
    says_it_is_cancelled,
    cancels_itself,
    cancels_itself_at_the_end,
    never_ends,
    returns_junk,
    comes_back_at_no_time,
    comes_back_at_once,
    destroys_what_it_is_given,
    leaves_a_status_without_end,
    tells_too_much,
]


@pytest.fixture
async def there() -> AsyncIterator[World]:
    async with world(definition("Widget")) as there:
        yield there


@pytest.mark.parametrize("does", FUNCTIONS, ids=lambda function: str(function.__name__))
async def test_a_function_that(there: World, does: Callable[[Widget, Context], Awaitable[Any]]) -> None:
    """One object has the function go wrong, twice as many times as there are workers; then another comes."""
    came, calls = asyncio.Event(), 0

    async def look(seen: Widget, ctx: Context) -> Any:
        nonlocal calls
        if seen.name == "good":
            came.set()
            return None
        calls += 1
        if calls == 4:
            await there.create(widget("good"))
        return await does(seen, ctx)

    for number in range(4):
        await there.create(widget(f"bad{number}"))
    guest = ControllerGuest("test", look, Widget, workers=2, timeout_seconds=0.2)
    async with asyncio.timeout(PATIENCE_SECONDS), staying_lively(), there.controlled(guest):
        await came.wait()


async def test_who_comes_back_at_once_comes_no_more_than_now_and_then(there: World) -> None:
    """15,000 times a second, of which nobody else had any."""
    calls = 0
    enough = asyncio.Event()

    async def look(seen: Widget, ctx: Context) -> Requeue:
        nonlocal calls
        calls += 1
        if calls == 20:
            enough.set()
        return Requeue(after=0)

    await there.create(widget())
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(PATIENCE_SECONDS), there.controlled(ControllerGuest("test", look, Widget)):
        started = loop.time()
        await enough.wait()
        assert loop.time() - started > 19 * 0.005 * 0.9


def told(kind: str, **metadata: Any) -> Json:
    said = {"name": "a", "namespace": "n", "uid": "u", "resourceVersion": "5", **metadata}
    return {"type": kind, "object": {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": said}}


def deep(levels: int) -> bytes:
    return b'{"type":"ADDED","object":{"metadata":{"name":"deep"},"x":' + b"[" * levels + b"]" * levels + b"}}"


END = {"metadata": {"resourceVersion": "10", "annotations": {"k8s.io/initial-events-end": "true"}}}
HUGE = "9" * 5_000
EVENTS: dict[str, list[Json | bytes]] = {
    "a version no number is": [told("ADDED", resourceVersion="five")],
    "a version with thousands of digits": [told("ADDED"), told("MODIFIED", resourceVersion=HUGE)],
    "a bookmark with thousands of digits": [told("ADDED"), told("BOOKMARK", resourceVersion=HUGE)],
    "a version that goes back": [told("ADDED", resourceVersion="50"), told("MODIFIED", resourceVersion="3")],
    "a version that is a map": [told("ADDED", resourceVersion={"a": 1})],
    "owners that are none": [told("ADDED", ownerReferences=[5, {"uid": {}}])],
    "finalizers that are none": [told("ADDED", finalizers=5, managedFields=5, annotations=[5])],
    "another kind": [{"type": "ADDED", "object": {"kind": 5, "apiVersion": {}, "metadata": {"name": "b"}}}],
    # Whoever may create an object that the server takes and we could not keep ended every controller of its kind.
    "an object deeper than orjson writes": [deep(300)],
    "an object deeper than orjson reads": [deep(2_000)],
    "an object as deep as Kubernetes allows": [deep(9_990)],
    "half of a character": [b'{"type":"ADDED","object":{"metadata":{"name":"a","labels":{"a":"\\ud800"}}}}'],
    "a number beyond all": [b'{"type":"ADDED","object":{"metadata":{"name":"a"},"x":1e999}}'],
    "more bookmarks than anybody needs": [told("ADDED"), *[told("BOOKMARK")] * 20_000],
}


@asynccontextmanager
async def following(events: list[Json | bytes]) -> AsyncIterator[tuple[Informer, asyncio.Event]]:
    """An informer of a server whose watch says this, and an event that is set once it has told what came last."""

    async def stream() -> AsyncIterator[bytes]:
        for each in (
            *events[:1],
            {"type": "BOOKMARK", "object": END},
            *events[1:],
            told("ADDED", name="last", uid="l"),
        ):
            yield (each if isinstance(each, bytes) else orjson.dumps(each)) + b"\n"
        await asyncio.Event().wait()

    async def handle(request: Request) -> Response:
        return Response(200, b"", stream=stream())

    informer = Informer(Client.in_process(handle, ADMIN), Followed(WIDGETS))
    came = asyncio.Event()

    def changed(change: Change) -> None:
        if change.key.name == "last":
            came.set()

    informer.subscribe(changed)
    task = asyncio.create_task(informer.run())
    try:
        yield informer, came
        assert not task.done(), task
    finally:
        task.cancel()
        await asyncio.wait([task])


@pytest.mark.parametrize("name", EVENTS)
async def test_an_informer_outlives(name: str) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS), staying_lively(), following(EVENTS[name]) as (informer, came):
        await came.wait()
        assert informer.is_synced
        informer.read_all()


async def test_what_cannot_be_kept_is_known_by_name(caplog: pytest.LogCaptureFixture) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS), following([deep(300)]) as (informer, came):
        await came.wait()
        assert informer.read(("", "deep")) == {"metadata": {"name": "deep"}}
    assert "object cannot be kept, only its identity is" in caplog.messages


async def test_a_list_that_leads_to_itself_ends() -> None:
    page = {"kind": "WidgetList", "metadata": {"resourceVersion": "5", "continue": "more"}, "items": []}

    async def handle(request: Request) -> Response:
        return Response(200, orjson.dumps(page))

    async with asyncio.timeout(PATIENCE_SECONDS):
        with pytest.raises(BadAnswer, match="leads to itself"):
            await Client.in_process(handle, ADMIN).list(WIDGETS)


def test_a_name_writes_no_line_of_its_own() -> None:
    record = logging.makeLogRecord(
        {"msg": "reconcile failed", "object": "a\nERROR forged\x1b[31m", "levelname": "INFO"}
    )
    line = LineFormatter().format(record)
    assert "\n" not in line
    assert "\x1b" not in line
