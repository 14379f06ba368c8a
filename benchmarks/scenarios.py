"""What is measured of servers that run: each function is one scenario, and returns figures by name.

Every scenario measures one server while the other idles. What a scenario writes goes into a namespace of its own
for every round, so that rounds do not depend on each other.
"""

from __future__ import annotations

import http.client
import ssl
from collections.abc import Callable, Mapping
from typing import Any

import orjson

from benchmarks import objects
from benchmarks.generator import Generator
from benchmarks.server import Endpoint, Server

Json = dict[str, Any]
Figures = dict[str, float]
Scenario = Callable[[Server, Generator, float, str], Figures]
"""Takes the server, the generator, how many seconds to measure and a namespace of its own."""

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
LIST_TIMES = 5
WATCHERS = 1000
EVENTS = 1000
_LISTED = f"/api/v1/namespaces/{objects.LISTED_NAMESPACE}/pods"


def prepare(server: Server, load: Generator) -> None:
    """Fill a fresh server with the pods that are read and listed."""
    endpoint = server.endpoint
    make_namespace(endpoint, objects.LISTED_NAMESPACE)
    load.create(endpoint, _LISTED, objects.pod("back"), prefix="back", count=objects.UNLABELLED)
    load.create(endpoint, _LISTED, objects.pod("front"), prefix="front", count=objects.LABELLED)


def make_namespace(endpoint: Endpoint, name: str) -> None:
    """A namespace in which pods can be created."""
    post(endpoint, "/api/v1/namespaces", objects.namespace(name))
    post(endpoint, f"/api/v1/namespaces/{name}/serviceaccounts", objects.service_account())


def memory(server: Server, _load: Generator, _seconds: float, _namespace: str) -> Figures:
    return {"memory_10k_mb": server.resident_mb()}


def get(server: Server, load: Generator, seconds: float, _namespace: str) -> Figures:
    before = server.processor_seconds()
    done = load.get(server.endpoint, f"{_LISTED}/back-{{number}}", names=objects.UNLABELLED, seconds=seconds)
    return _costed("get", server, before, done)


def create_config_maps(server: Server, load: Generator, seconds: float, namespace: str) -> Figures:
    return _create("create_configmap", "configmaps", objects.config_map(), server, load, seconds, namespace)


def create_pods(server: Server, load: Generator, seconds: float, namespace: str) -> Figures:
    return _create("create_pod", "pods", objects.pod("front"), server, load, seconds, namespace)


def list_all(server: Server, load: Generator, _seconds: float, _namespace: str) -> Figures:
    return _list("list_full", _LISTED, 10_000, server, load)


def list_table(server: Server, load: Generator, _seconds: float, _namespace: str) -> Figures:
    return _list("list_table", _LISTED, 10_000, server, load, accept=TABLE)


def list_selected(server: Server, load: Generator, _seconds: float, _namespace: str) -> Figures:
    return _list("list_selected", f"{_LISTED}?labelSelector=tier%3Dfront", objects.LABELLED, server, load)


def watch(server: Server, load: Generator, _seconds: float, namespace: str) -> Figures:
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    before = server.processor_seconds()
    done = load.watch(server.endpoint, path, objects.event_map(), prefix="event", watchers=WATCHERS, events=EVENTS)
    if done["lost"] or done["doubled"] or done["disordered"]:
        print(f"  {server.name}: a watch went wrong: {done}")
    return {
        "watch_lost": done["lost"] + done["doubled"] + done["disordered"],
        "watch_resumed": done["resumed"],
        "watch_seconds": done["seconds"],
        "watch_open_seconds": done["open_seconds"],
        "watch_per_second": done["per_second"],
        "watch_cpu_us": (server.processor_seconds() - before) / max(done["delivered"], 1) * 1e6,
    }


SCENARIOS: Mapping[str, Scenario] = {
    "memory": memory,
    "get": get,
    "configmaps": create_config_maps,
    "pods": create_pods,
    "list": list_all,
    "table": list_table,
    "selector": list_selected,
    "watch": watch,
}


def _create(
    name: str, plural: str, obj: Json, server: Server, load: Generator, seconds: float, namespace: str
) -> Figures:
    path = f"/api/v1/namespaces/{namespace}/{plural}"
    before = server.processor_seconds()
    return _costed(name, server, before, load.create(server.endpoint, path, obj, prefix="made", seconds=seconds))


def _costed(name: str, server: Server, before: float, done: Json) -> Figures:
    return {
        f"{name}_per_second": done["per_second"],
        f"{name}_p99_ms": done["ms_p99"],
        f"{name}_cpu_us": (server.processor_seconds() - before) / done["requests"] * 1e6,
    }


def _list(
    name: str, path: str, expected: int, server: Server, load: Generator, accept: str = "application/json"
) -> Figures:
    done = load.list(server.endpoint, path, times=LIST_TIMES, accept=accept)
    assert done["items"] == expected, f"{server.name} lists {done['items']} of {expected} at {path}"
    return {f"{name}_ms": done["ms_p50"], f"{name}_mb": done["bytes"] / 1e6}


def post(endpoint: Endpoint, path: str, obj: Json) -> None:
    """Create one object; that it exists is as good."""
    context = ssl.create_default_context(cafile=str(endpoint.ca))
    context.load_cert_chain(endpoint.certificate, endpoint.key)
    connection = http.client.HTTPSConnection(endpoint.host, endpoint.port, context=context, timeout=30)
    try:
        connection.request("POST", path, orjson.dumps(obj), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        said = answer.read()
        assert answer.status in (201, 409), f"POST {path}: {answer.status} {said[:300]!r}"
    finally:
        connection.close()
