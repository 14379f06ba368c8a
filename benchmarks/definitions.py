"""What many custom resource definitions cost: `python -m benchmarks.definitions [DEFINITIONS]`.

A server in this process, over a store in memory, gets definitions of a usual size one after another, in groups of
twenty. Somebody makes an object of a kind as soon as it is served, and kubectl's questions are asked in between. With
each part is told for how long the event loop was at most busy without a turn for anybody else: processor time of its
thread, so that it says the same on a machine that others use too.
"""

from __future__ import annotations

import asyncio
import gc
import resource
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from time import perf_counter, thread_time
from typing import Any

import orjson

from hardpoint.apiserver.server import ApiServer
from hardpoint.machinery.messages import Peer, Request, Response, User
from hardpoint.store.memory import MemoryStore

Json = dict[str, Any]

DEFINITIONS, IN_A_GROUP = 1_000, 20
SAMPLES = 20
PATH = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
PROTOBUF = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
_ADMIN = Peer("benchmark", User("admin", ("system:masters",)))


def definition(number: int) -> Json:
    """A definition with a schema of about 80 fields."""
    group, plural = f"g{number // IN_A_GROUP}.example.com", f"things{number}"
    part = {"type": "object", "properties": {f"field{each}": {"type": "string"} for each in range(8)}}
    spec = {
        "type": "object",
        "properties": {f"part{each}": {"description": f"Part {each}.", **part} for each in range(10)},
    }
    schema = {"type": "object", "properties": {"spec": spec, "status": part}}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"plural": plural, "kind": f"Thing{number}"},
            "versions": [version | {"subresources": {"status": {}}}],
        },
    }


class Benchmark:
    """One server, and how long the turns of its loop are."""

    def __init__(self, server: ApiServer) -> None:
        self._handle = server.handle
        self._busy_seconds = 0.0

    async def watch_loop(self) -> None:
        """Notice the longest turn, until cancelled."""
        before = thread_time()
        while True:
            await asyncio.sleep(0)
            now = thread_time()
            self._busy_seconds = max(self._busy_seconds, now - before)
            before = now

    async def ask(self, method: str, path: str, body: Json | None = None, **headers: str) -> Response:
        content = b"" if body is None else orjson.dumps(body)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return await self._handle(
            Request(method, path, "", named | {"content-type": "application/json"}, content, _ADMIN)
        )

    async def make(self, number: int) -> None:
        answer = await self.ask("POST", PATH, definition(number))
        assert answer.status == 201, answer.body

    async def seconds_until_served(self, number: int) -> float:
        """From the moment a definition is sent until an object of its kind is stored."""
        group, plural = f"g{number // IN_A_GROUP}.example.com", f"things{number}"
        obj = {"apiVersion": f"{group}/v1", "kind": f"Thing{number}", "metadata": {"name": "first"}, "spec": {}}
        started = perf_counter()
        await self.make(number)
        while (await self.ask("POST", f"/apis/{group}/v1/namespaces/default/{plural}", obj)).status != 201:
            continue
        return perf_counter() - started

    async def told(self, what: str, value: float, unit: str) -> None:
        """Print a figure, with the longest turn of the loop since the last one."""
        await asyncio.sleep(0.001)  # A turn that is not over has not been noticed.
        print(f"{what:<62} {value:>10.2f} {unit:<8} busy {self._busy_seconds * 1000:>7.1f} ms")
        self._busy_seconds = 0.0

    async def timed(self, what: str, path: str, **headers: str) -> None:
        started = perf_counter()
        answer = await self.ask("GET", path, None, **headers)
        assert answer.status == 200, answer.body
        await self.told(what, (perf_counter() - started) * 1000, "ms")


@asynccontextmanager
async def running() -> AsyncIterator[Benchmark]:
    async with ApiServer(MemoryStore()).running() as server:
        bench = Benchmark(server)
        watching = asyncio.ensure_future(bench.watch_loop())
        try:
            yield bench
        finally:
            watching.cancel()


async def main(count: int) -> None:
    async with running() as bench:
        for number in range(SAMPLES):
            await bench.seconds_until_served(number)
        await bench.told("warmed up with definitions", SAMPLES, "")
        before = _memory_kib()
        started = perf_counter()
        for number in range(SAMPLES, count):
            await bench.make(number)
        seconds = perf_counter() - started
        await bench.told("definitions created a second", (count - SAMPLES) / seconds, "/s")
        gc.collect()
        await bench.told("memory a definition", (_memory_kib() - before) / (count - SAMPLES), "KiB")
        waited = sorted([await bench.seconds_until_served(count + number) for number in range(SAMPLES)])
        await bench.told(
            f"until an object is stored, beside {count} definitions: middle", waited[SAMPLES // 2] * 1000, "ms"
        )
        await bench.told("    the slowest of twenty", waited[-1] * 1000, "ms")
        await asks(bench, count)


async def asks(bench: Benchmark, count: int) -> None:
    """What kubectl asks, for the first time and after one more definition."""
    group = "/openapi/v3/apis/g3.example.com/v1"
    for again in ("first time", "one more definition"):
        await bench.timed(f"discovery, aggregated: {again}", "/apis", accept=AGGREGATED)
        await bench.timed(f"discovery, one group version: {again}", "/apis/g3.example.com/v1")
        await bench.timed(f"OpenAPI v3, index: {again}", "/openapi/v3")
        await bench.timed(f"OpenAPI v3, one group version: {again}", group, accept_encoding="gzip")
        await bench.timed(f"OpenAPI v2, JSON: {again}", "/openapi/v2", accept_encoding="gzip")
        await bench.timed(f"OpenAPI v2, protobuf: {again}", "/openapi/v2", accept_encoding="gzip", accept=PROTOBUF)
        waited = await bench.seconds_until_served(count + SAMPLES)
        await bench.told("one more definition, until an object is stored", waited * 1000, "ms")
        count += 1


def _memory_kib() -> float:
    with open("/proc/self/statm") as told:
        return int(told.read().split()[1]) * resource.getpagesize() / 1024


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else DEFINITIONS))
