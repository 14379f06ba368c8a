"""Changes of objects as users make them, and what becomes of them, as a watcher sees it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from contextlib import asynccontextmanager
from time import monotonic, monotonic_ns
from typing import Any

from benchmarks.operators.widgets import NAMESPACE, WIDGETS, name_of
from hardpoint.client.client import Client

AT_ONCE = 16

Change = Callable[[int], Coroutine[Any, Any, None]]
"""Changes the object of a number."""


class Outcomes:
    """Whose status has caught up with its spec, in the order it was seen, and how long after the change was sent."""

    def __init__(self) -> None:
        self.delays_ms: list[float] = []
        self._settled: dict[str, int] = {}

    @asynccontextmanager
    async def watching(self, client: Client) -> AsyncIterator[None]:
        async with client.watch(WIDGETS, namespace=NAMESPACE) as events:

            async def watch() -> None:
                async for event in events:
                    metadata, spec = event.object["metadata"], event.object["spec"]
                    revision = event.object.get("status", {}).get("observed")
                    if revision == spec["revision"] != self._settled.get(metadata["name"]):
                        self._settled[metadata["name"]] = revision
                        self.delays_ms.append((monotonic_ns() - spec["sent"]) / 1e6)

            task = asyncio.create_task(watch(), name="outcomes")
            try:
                yield
            finally:
                task.cancel()
                await asyncio.wait([task])

    @property
    def count(self) -> int:
        return len(self.delays_ms)


def asking(client: Client, revision: int) -> Change:
    """Changes as users make them."""

    async def change(number: int) -> None:
        patch = {"spec": {"revision": revision, "sent": monotonic_ns()}}
        await client.patch(WIDGETS, name_of(number), patch, namespace=NAMESPACE, field_manager="user")

    return change


async def at_once(change: Change, numbers: Iterable[int], *, workers: int = AT_ONCE) -> None:
    """Change objects as fast as it goes, a few at a time."""
    waiting = iter(numbers)

    async def work() -> None:
        for number in waiting:
            await change(number)

    async with asyncio.TaskGroup() as tasks:
        for _ in range(workers):
            tasks.create_task(work())


async def paced(change: Change, numbers: Iterable[int], per_second: float) -> None:
    """Change objects at a pace, whether or not the changes before are through."""
    began = monotonic()
    async with asyncio.TaskGroup() as tasks:
        for done, number in enumerate(numbers):
            early_seconds = began + done / per_second - monotonic()
            if early_seconds > 0:
                await asyncio.sleep(early_seconds)
            tasks.create_task(change(number))
