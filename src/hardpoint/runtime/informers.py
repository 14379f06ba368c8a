"""The informers of one program: one watch for each thing that is followed, shared by all who follow it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

from hardpoint.client.client import Client
from hardpoint.client.options import ALL_NAMESPACES
from hardpoint.client.resources import Resource
from hardpoint.runtime.informer import Followed, Informer
from hardpoint.runtime.transforms import Transform, without_managed_fields


class Informers:
    """Informers over one client. Those asked for while they run start at once; all stop together."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._informers: dict[Followed, Informer] = {}
        self._tasks: asyncio.TaskGroup | None = None
        self._running: list[asyncio.Task[None]] = []

    def __iter__(self) -> Iterator[Informer]:
        return iter(list(self._informers.values()))

    def get(
        self,
        resource: str | Resource,
        *,
        namespace: str = ALL_NAMESPACES,
        label_selector: str = "",
        field_selector: str = "",
        transform: Transform = without_managed_fields,
        metadata_only: bool = False,
    ) -> Informer:
        """The informer of a resource, under a selection. Who asks for the same in the same words gets the same one.

        With `metadata_only` each object is a PartialObjectMetadata. Raises BadSelector.
        """
        followed = Followed(resource, namespace, label_selector, field_selector, transform, metadata_only)
        informer = self._informers.get(followed)
        if informer is None:
            informer = self._informers[followed] = Informer(self._client, followed)
            self._start(informer)
        return informer

    async def wait_until_synced(self) -> None:
        """Return once each informer there is knows everything that was there at its start."""
        for informer in self:
            await informer.wait_until_synced()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Informers]:
        """Follow until left. Entering waits for nothing. What is known stays, and may be followed further later."""
        assert self._tasks is None, "informers run once at a time"
        async with asyncio.TaskGroup() as tasks:
            self._tasks = tasks
            for informer in self:
                self._start(informer)
            try:
                yield self
            finally:
                self._tasks = None
                for task in self._running:
                    task.cancel()
                self._running.clear()

    def _start(self, informer: Informer) -> None:
        if self._tasks is not None:
            task = self._tasks.create_task(informer.run(), name=f"informer of {informer.name}")
            self._running.append(task)
