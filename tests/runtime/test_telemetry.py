"""What is seen of a reconcile from outside: the fields of log lines, spans, and the requests inside them."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from hardpoint.cli.logs import JsonFormatter
from hardpoint.client.client import Client
from hardpoint.client.transport import Unreachable
from hardpoint.machinery.messages import Request, Response
from hardpoint.runtime.changes import Key
from hardpoint.runtime.controllermetrics import ControllerMetrics
from hardpoint.runtime.telemetry import Reconciling, log_fields
from hardpoint.runtime.telemetryrequests import Observed, observing
from tests.apiserver.asking import ADMIN, Api

KEY = Key("shop", "nightly")


@pytest.fixture(scope="module")
def exporter() -> InMemorySpanExporter:
    """Where the spans of this process go; there can be one provider in a process."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    return exporter


@pytest.fixture
def spans(exporter: InMemorySpanExporter) -> Iterator[InMemorySpanExporter]:
    exporter.clear()
    yield exporter
    exporter.clear()


def only(spans: InMemorySpanExporter, prefix: str) -> ReadableSpan:
    (span,) = [span for span in spans.get_finished_spans() if span.name.startswith(prefix)]
    return span


def test_log_lines_inside_a_reconcile_say_which() -> None:
    assert log_fields() == {}
    with Reconciling("tabs", KEY, group="stable.example.com", kind="CronTab") as reconcile:
        fields = log_fields()
        assert fields == {
            "controller": "tabs",
            "controllerGroup": "stable.example.com",
            "controllerKind": "CronTab",
            "CronTab": {"name": "nightly", "namespace": "shop"},
            "namespace": "shop",
            "name": "nightly",
            "reconcileID": reconcile.id,
        }
    assert log_fields() == {}


async def test_reconciles_at_once_do_not_mix() -> None:
    meeting = asyncio.Barrier(2)

    async def reconcile(name: str) -> tuple[str, str]:
        with Reconciling("tabs", Key("shop", name)):
            await meeting.wait()
            return log_fields()["name"], await asyncio.to_thread(lambda: log_fields()["name"])

    found = await asyncio.gather(reconcile("a"), reconcile("b"))
    assert found == [("a", "a"), ("b", "b")]


def test_an_authors_own_lines_carry_the_fields() -> None:
    record = logging.makeLogRecord({"name": "mine", "msg": "job started", "levelname": "INFO", "job": "j1"})
    with Reconciling("tabs", KEY) as reconcile:
        line = JsonFormatter().format(record)
    assert f'"reconcileID": "{reconcile.id}"' in line
    assert '"name": "nightly"' in line
    assert '"job": "j1"' in line


def test_a_reconcile_is_a_span(spans: InMemorySpanExporter) -> None:
    with Reconciling("tabs", KEY, attempts=2) as reconcile:
        reconcile.result = "requeue_after"
    span = only(spans, "reconcile tabs")
    assert span.attributes == {
        "controller.name": "tabs",
        "reconcile.key": "shop/nightly",
        "reconcile.attempts": 2,
        "reconcile.id": reconcile.id,
        "reconcile.result": "requeue_after",
    }
    assert span.status.status_code is StatusCode.UNSET


def test_a_failure_is_a_span_with_an_error(spans: InMemorySpanExporter) -> None:
    with pytest.raises(KeyError), Reconciling("tabs", KEY):
        raise KeyError("oops")
    span = only(spans, "reconcile tabs")
    assert span.status.status_code is StatusCode.ERROR
    assert span.events[0].name == "exception"


async def test_requests_are_spans_that_the_server_hears_of(api: Api, spans: InMemorySpanExporter) -> None:
    heard: list[str | None] = []

    async def handle(request: Request) -> Response:
        heard.append(request.headers.get("traceparent"))
        return await api.server.handle(request)

    metrics = ControllerMetrics()
    client = Client.in_process(handle, ADMIN, wrap=observing(metrics))
    await client.list("v1 Pod")
    heard.clear()
    assert not spans.get_finished_spans(), "outside of a span there is nothing to be part of"
    with Reconciling("tabs", KEY):
        await client.list("v1 Pod")
        async with client.watch("v1 Pod", resource_version="1"):
            pass
    reconcile, request = only(spans, "reconcile"), only(spans, "GET /api/v1/namespaces/default/pods")
    assert request.parent is not None
    assert request.parent.span_id == reconcile.context.span_id
    assert request.attributes is not None
    assert request.attributes["http.response.status_code"] == 200
    flags = request.context.trace_flags
    assert heard[0] == f"00-{request.context.trace_id:032x}-{request.context.span_id:016x}-{flags:02x}"
    assert b'rest_client_requests_total{code="200",host="in-process",method="GET"}' in metrics.render()


class Away:
    """A server that nobody reaches."""

    async def request(self, *_: Any) -> Any:
        raise Unreachable("server", "away")

    @asynccontextmanager
    async def stream(self, *_: Any) -> AsyncIterator[Any]:
        raise Unreachable("server", "away")
        yield

    async def close(self) -> None: ...


async def test_attempts_without_an_answer_count_too() -> None:
    metrics = ControllerMetrics()
    transport = Observed(Away(), "there:6443", metrics)
    with pytest.raises(Unreachable):
        await transport.request("PUT", "/x")
    with pytest.raises(Unreachable):
        async with transport.stream("GET", "/x"):
            pytest.fail("it streams")
    for method in ("PUT", "GET"):
        line = f'rest_client_requests_total{{code="<error>",host="there:6443",method="{method}"}} 1'
        assert line.encode() in metrics.render()


def test_nobody_pays_for_traces_that_nobody_collects() -> None:
    program = (
        "import sys; from hardpoint.runtime.telemetry import Reconciling; from hardpoint.runtime.changes import Key\n"
        "with Reconciling('tabs', Key('a', 'b')): pass\n"
        "assert not [name for name in sys.modules if name.startswith('opentelemetry')]"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
