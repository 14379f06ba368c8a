"""Which requests are asked again, and when. The rules are client-go's.

An answer of 429 or 5xx that carries Retry-After is asked again after that time, whatever the method: the server
promises that it did nothing. A GET whose connection was cut is asked again too. Ten times, then the last word counts.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager

from hardpoint.client.transport import Answer, Interrupted, Stream, Transport

RETRIES_MAX = 10
# A server that asks for more than this is better heard by the caller than waited for in silence.
RETRY_AFTER_SECONDS_MAX = 120
CUT_SECONDS_FIRST = 0.05
CUT_SECONDS_MAX = 1.0


class Retrying:
    """A transport that asks again where that is safe."""

    def __init__(self, transport: Transport, *, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        self._transport = transport
        self._sleep = sleep

    async def request(
        self, method: str, path: str, query: str = "", headers: Mapping[str, str] | None = None, body: bytes = b""
    ) -> Answer:
        retries = 0
        while True:
            try:
                answer = await self._transport.request(method, path, query, headers, body)
                wait_seconds = asked_to_wait(answer.status, answer.headers)
                if wait_seconds is None or retries == RETRIES_MAX:
                    return answer
            except Interrupted:
                if method != "GET" or retries == RETRIES_MAX:
                    raise
                wait_seconds = after_cut(retries)
            retries += 1
            await self._sleep(wait_seconds)

    @asynccontextmanager
    async def stream(
        self, method: str, path: str, query: str = "", headers: Mapping[str, str] | None = None, body: bytes = b""
    ) -> AsyncIterator[Stream]:
        """Asks again only until an answer begins: what follows a cut stream, its reader knows best."""
        retries = 0
        while True:
            async with AsyncExitStack() as stack:
                try:
                    opened = self._transport.stream(method, path, query, headers, body)
                    stream = await stack.enter_async_context(opened)
                    wait_seconds = asked_to_wait(stream.status, stream.headers)
                except Interrupted:
                    if method != "GET" or retries == RETRIES_MAX:
                        raise
                    wait_seconds = after_cut(retries)
                else:
                    if wait_seconds is None or retries == RETRIES_MAX:
                        yield stream
                        return
            retries += 1
            await self._sleep(wait_seconds)

    async def close(self) -> None:
        await self._transport.close()


def asked_to_wait(status: int, headers: Mapping[str, str]) -> float | None:
    """For how long the server asks us to stay away before asking again; None if it does not."""
    if status != 429 and not 500 <= status <= 599:
        return None
    text = headers.get("retry-after", "")
    if not (text.isascii() and text.isdecimal()) or int(text) > RETRY_AFTER_SECONDS_MAX:
        return None
    return float(text)


def after_cut(retries: int) -> float:
    """A server that just went away is not hammered, and not waited for longer than it takes to come back."""
    return min(CUT_SECONDS_FIRST * 2.0**retries, CUT_SECONDS_MAX)


_conforms: type[Transport] = Retrying
