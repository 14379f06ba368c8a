"""A guest behind real TLS that does what a test tells it, and how to ask it."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import orjson

from hardpoint.client.webhook import Waits, Webhook
from tests.client.authority import Authority
from tests.client.scripted import Asked, Reply, Script, Scripted, scripted

Json = dict[str, Any]

AUTHORITY = Authority("guests")
AT_ONCE = Waits(first_seconds=0.0)
"""Five attempts without waiting between them."""


@asynccontextmanager
async def guest(script: Script, folder: Path, *, seam: str = "test") -> AsyncIterator[tuple[Scripted, Webhook]]:
    """A server that follows `script`, and a webhook that asks it."""
    cert, key = AUTHORITY.issue("guest", alternatives=("127.0.0.1",))
    (folder / "guest.pem").write_bytes(cert + key)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "guest.pem")
    async with (
        scripted(script, context=context) as server,
        Webhook.at(seam, f"https://127.0.0.1:{server.port}", ca_pem=AUTHORITY.pem) as webhook,
    ):
        yield server, webhook


def answering(*answers: Json | int) -> Script:
    """Gives these answers in turn, the last for ever: objects, or statuses without one."""
    waiting = list(answers)

    async def script(asked: Asked, reply: Reply) -> None:
        answer = waiting.pop(0) if len(waiting) > 1 else waiting[0]
        if isinstance(answer, int):
            await reply.answer(b"{}", status=answer)
        else:
            await reply.answer(orjson.dumps(answer))

    return script


def holding(until: asyncio.Event, answer: Json) -> Callable[[Asked, Reply], Awaitable[None]]:
    """Gives its answer when the test says so."""

    async def script(asked: Asked, reply: Reply) -> None:
        await until.wait()
        await reply.answer(orjson.dumps(answer))

    return script
