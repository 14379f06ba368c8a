"""Health and metrics over plain HTTP, asked by a client that knows nothing of us."""

from __future__ import annotations

import asyncio
import urllib.error
import urllib.request

import pytest
from prometheus_client.parser import text_string_to_metric_families

from hardpoint.machinery.errors import ConfigError
from hardpoint.runtime.controllermetrics import ControllerMetrics
from hardpoint.runtime.healthserver import Address, observed
from hardpoint.serving.health import Health

ANY = "127.0.0.1:0"


async def ask(port: int, path: str, method: str = "GET") -> tuple[int, str]:
    def blocking() -> tuple[int, str]:
        request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", method=method)
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as refused:
            with refused:
                return refused.code, refused.read().decode()

    return await asyncio.to_thread(blocking)


async def test_one_socket_answers_both() -> None:
    metrics = ControllerMetrics()
    metrics.controller("tabs").ended("success", 0.1)
    async with observed(metrics, Health(), metrics_address=ANY, health_address=ANY) as ports:
        assert ports["metrics"] == ports["health"]
        assert await ask(ports["health"], "/healthz") == (200, "ok")
        assert await ask(ports["health"], "/readyz") == (200, "ok")
        status, text = await ask(ports["metrics"], "/metrics")
        assert status == 200
        names = {family.name for family in text_string_to_metric_families(text)}
        assert {"controller_runtime_reconcile", "process_cpu_seconds"} <= names
        assert (await ask(ports["metrics"], "/metrics", "POST"))[0] == 405
        assert (await ask(ports["metrics"], "/healthz", "DELETE"))[0] == 405
        assert (await ask(ports["metrics"], "/secrets"))[0] == 404


async def test_each_at_its_own_address_or_nowhere() -> None:
    async with observed(ControllerMetrics(), Health(), metrics_address="0", health_address=ANY) as ports:
        assert ports.keys() == {"health"}
        assert (await ask(ports["health"], "/metrics"))[0] == 404
    async with observed(ControllerMetrics(), Health(), metrics_address=ANY, health_address="localhost:0") as ports:
        assert ports["metrics"] != ports["health"]
        assert (await ask(ports["metrics"], "/healthz"))[0] == 404
        assert (await ask(ports["health"], "/healthz"))[0] == 200


async def test_readiness_is_what_the_checks_say() -> None:
    health = Health()
    is_synced = False

    async def synced() -> None:
        if not is_synced:
            raise RuntimeError("the cache of crontabs is not filled yet")

    health.add("informers", synced, live=False)
    async with observed(ControllerMetrics(), health, metrics_address="0", health_address=ANY) as ports:
        status, text = await ask(ports["health"], "/readyz")
        assert status == 500
        assert "[-]informers failed" in text
        assert (await ask(ports["health"], "/healthz"))[0] == 200, "who is not ready is alive"
        is_synced = True
        assert await ask(ports["health"], "/readyz") == (200, "ok")


async def test_an_address_that_is_taken() -> None:
    async with observed(ControllerMetrics(), Health(), metrics_address=ANY, health_address="0") as ports:
        taken = f"127.0.0.1:{ports['metrics']}"
        with pytest.raises(ConfigError, match=r"cannot listen on 127\.0\.0\.1 port"):
            async with observed(ControllerMetrics(), Health(), metrics_address=taken, health_address="0"):
                pytest.fail("it listens")


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("127.0.0.1:8080", Address("127.0.0.1", 8080)),
        (":8081", Address("0.0.0.0", 8081)),
        ("[::1]:80", Address("::1", 80)),
        ("0", None),
    ],
)
def test_addresses(text: str, meant: Address | None) -> None:
    assert Address.parse(text) == meant


@pytest.mark.parametrize("text", ["", "8080", "host", "host:http", "::1:80", "host:70000", ":-1"])
def test_what_is_no_address(text: str) -> None:
    with pytest.raises(ConfigError, match="is no address"):
        Address.parse(text)
