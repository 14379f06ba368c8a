"""One operator at one server, from the start of its process on: what it takes until all is dealt with, and then."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from benchmarks.operators import load, widgets
from benchmarks.operators.process import Kind, Operator, running
from benchmarks.ours import Ours
from benchmarks.scenarios import Figures
from hardpoint.client.client import Client

PATIENCE_SECONDS = 900.0
SETTLE_SECONDS = 2.0
QUIET_SHARE_MAX = 0.02
"""Of a processor."""
LOOK_SECONDS = 0.005


@dataclass(frozen=True, slots=True)
class Size:
    """How much is measured."""

    objects: int
    changes: int
    """How many of them are changed as fast as the server takes it."""
    rest_seconds: float
    paced_seconds: float


class Trial:
    """What an operator of a kind does with the objects of a server of its own."""

    def __init__(self, kind: Kind, size: Size, directory: Path, *, writes: bool, paces: Sequence[int]) -> None:
        """With `writes` it writes a status for each change. `paces` are how many changes a second it is to bear."""
        self._kind = kind
        self._size = size
        self._writes = writes
        self._paces = paces
        self._directory = directory
        self._server = Ours(directory / "server")
        self._outcomes = load.Outcomes()
        self._revision = 1

    async def measure(self) -> Figures:
        """All figures, in the order they are taken."""
        light_mb = await prepare(self._server, self._kind, self._size, self._directory, writes=self._writes)
        with self._server.running():
            async with self._client() as client, self._watching(client):
                with self._operator() as operator:
                    figures = await self._first(operator)
                    figures |= await self._at_rest(operator, light_mb)
                    figures |= await self._fast(operator, client)
                    for pace in self._paces:
                        figures |= await self._paced(operator, client, pace)
        return figures

    async def _first(self, operator: Operator) -> Figures:
        began, before = monotonic(), self._server.processor_seconds()
        # The first object has its status from when the operator was weighed.
        await self._wait_until_done(operator, self._size.objects - self._writes)
        return {
            "first_s": monotonic() - began,
            "first_cpu_s": operator.processor_seconds(),
            "first_server_cpu_s": self._server.processor_seconds() - before,
        }

    async def _at_rest(self, operator: Operator, light_mb: float) -> Figures:
        await wait_until_quiet(operator)
        before = operator.processor_seconds()
        await asyncio.sleep(self._size.rest_seconds)
        weight_mb = operator.resident_mb()
        return {
            "rest_cpu_percent": (operator.processor_seconds() - before) / self._size.rest_seconds * 100,
            "memory_mb": weight_mb,
            "memory_object_kb": (weight_mb - light_mb) * 1024 / (self._size.objects - 1),
        }

    async def _fast(self, operator: Operator, client: Client) -> Figures:
        count, done = self._size.changes, self._done(operator)
        before, before_server = operator.processor_seconds(), self._server.processor_seconds()
        began, self._revision = monotonic(), self._revision + 1
        await load.at_once(load.asking(client, self._revision), range(count))
        await self._wait_until_done(operator, done + count)
        return {
            "changes_per_second": count / (monotonic() - began),
            "change_cpu_us": (operator.processor_seconds() - before) / count * 1e6,
            "change_server_cpu_us": (self._server.processor_seconds() - before_server) / count * 1e6,
        }

    async def _paced(self, operator: Operator, client: Client, pace: int) -> Figures:
        await wait_until_quiet(operator)
        count = min(int(pace * self._size.paced_seconds), self._size.objects)
        called, done = operator.tally.count, self._done(operator)
        began, self._revision = monotonic(), self._revision + 1
        await load.paced(load.asking(client, self._revision), range(count), pace)
        figures = {f"at_{pace}_reached_per_second": count / (monotonic() - began)}
        await self._wait_until_done(operator, done + count)
        figures |= percentiles(f"at_{pace}_called", operator.tally.delays_ms(called))
        if self._writes:
            figures |= percentiles(f"at_{pace}_settled", self._outcomes.delays_ms[done:])
        return figures

    def _done(self, operator: Operator) -> int:
        """How many changes have been dealt with."""
        return self._outcomes.count if self._writes else operator.tally.count

    async def _wait_until_done(self, operator: Operator, count: int) -> None:
        await wait_until(operator, lambda: self._done(operator) >= count)

    def _operator(self) -> AbstractContextManager[Operator]:
        return running(self._kind, self._directory, self._server.kubeconfig, writes=self._writes)

    @asynccontextmanager
    async def _watching(self, client: Client) -> AsyncIterator[None]:
        if not self._writes:
            yield
            return
        async with self._outcomes.watching(client):
            yield

    def _client(self) -> Client:
        return Client.from_kubeconfig(self._server.kubeconfig)


async def prepare(server: Ours, kind: Kind, size: Size, directory: Path, *, writes: bool) -> float:
    """Bring all the objects. Returns what the operator weighs with one of them, in MB."""
    with server.running():
        async with Client.from_kubeconfig(server.kubeconfig) as client:
            model = await widgets.define(client)
        with running(kind, directory, server.kubeconfig, writes=writes) as operator:
            await wait_until(operator, lambda: operator.tally.count)
            await wait_until_quiet(operator)
            light_mb = operator.resident_mb()
    await widgets.fill(server, model, size.objects)
    return light_mb


async def wait_until(operator: Operator, is_met: Callable[[], object]) -> None:
    """Look now and then. Raises OperatorEnded."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not is_met():
            operator.check_alive()
            await asyncio.sleep(LOOK_SECONDS)


async def wait_until_quiet(operator: Operator) -> None:
    """Return once it does nothing for a while: after the last change it may still be busy with its own writes."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        before = -1.0
        while (now := operator.processor_seconds()) - before > QUIET_SHARE_MAX * SETTLE_SECONDS:
            before = now
            await asyncio.sleep(SETTLE_SECONDS)


def percentiles(name: str, delays: Sequence[float]) -> Figures:
    """The middle one, and the one that one in a hundred exceeds."""
    ordered = sorted(delays)
    return {f"{name}_p{part}_ms": ordered[min(len(ordered) - 1, len(ordered) * part // 100)] for part in (50, 99)}
