"""Requests to an API server as others see them: counted, and part of the trace they were made in.

    client = Client.from_kubeconfig(wrap=observing(metrics))

Each attempt counts, as in client-go. A request made inside a span is a span of its own, and tells the server which by
W3C's `traceparent`, so that a trace goes on in the server's own.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from typing import TYPE_CHECKING

from hardpoint.client.transport import Answer, Stream, Transport, TransportError
from hardpoint.runtime.controllermetrics import ControllerMetrics
from hardpoint.runtime.telemetry import LIBRARY, is_traced

if TYPE_CHECKING:
    from opentelemetry.trace import Span

Headers = Mapping[str, str]
NO_ANSWER = "<error>"


def observing(metrics: ControllerMetrics) -> Callable[[Transport, str], Transport]:
    """What a Client takes as `wrap`: its requests are counted there, and traced."""
    return lambda transport, host: Observed(transport, host, metrics)


class Observed:
    """A transport whose requests are counted and traced. `host` is how metrics call the server."""

    def __init__(self, transport: Transport, host: str, metrics: ControllerMetrics) -> None:
        self._transport = transport
        self._host = host
        self._metrics = metrics

    async def request(
        self, method: str, path: str, query: str = "", headers: Headers | None = None, body: bytes = b""
    ) -> Answer:
        with _span(method, path) as span:
            try:
                answer = await self._transport.request(method, path, query, _traced(headers, span), body)
            except TransportError:
                self._metrics.requested(NO_ANSWER, method, self._host)
                raise
            self._told(method, answer.status, span)
            return answer

    @asynccontextmanager
    async def stream(
        self, method: str, path: str, query: str = "", headers: Headers | None = None, body: bytes = b""
    ) -> AsyncIterator[Stream]:
        """The span is over when the answer begins: a watch goes on for longer than anybody traces."""
        async with AsyncExitStack() as stack:
            with _span(method, path) as span:
                opened = self._transport.stream(method, path, query, _traced(headers, span), body)
                try:
                    stream = await stack.enter_async_context(opened)
                except TransportError:
                    self._metrics.requested(NO_ANSWER, method, self._host)
                    raise
                self._told(method, stream.status, span)
            yield stream

    async def close(self) -> None:
        await self._transport.close()

    def _told(self, method: str, status: int, span: Span | None) -> None:
        self._metrics.requested(str(status), method, self._host)
        if span is not None:
            span.set_attribute("http.response.status_code", status)


@contextmanager
def _span(method: str, path: str) -> Iterator[Span | None]:
    """A span inside the one there is; none where there is none."""
    if not is_traced():
        yield None
        return
    from opentelemetry import trace

    if not trace.get_current_span().is_recording():
        yield None
        return
    told = {"http.request.method": method, "url.path": path}
    kind = trace.SpanKind.CLIENT
    with trace.get_tracer(LIBRARY).start_as_current_span(f"{method} {path}", kind=kind, attributes=told) as span:
        yield span


def _traced(headers: Headers | None, span: Span | None) -> Headers | None:
    if span is None:
        return headers
    context = span.get_span_context()
    parent = f"00-{context.trace_id:032x}-{context.span_id:016x}-{context.trace_flags:02x}"
    return {**(headers or {}), "traceparent": parent}


_conforms: type[Transport] = Observed
