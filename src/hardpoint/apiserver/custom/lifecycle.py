"""The life of definitions: each gets the names that are free, is established and served, and goes when it is deleted.

Everything follows from what the store says, so nothing is lost by a restart. What is served changes as a write is told;
only what has to be written down waits its turn.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable
from datetime import datetime
from typing import Any

from hardpoint.apiserver.custom import conditions
from hardpoint.apiserver.custom.converters import Converters
from hardpoint.apiserver.custom.removal import Removal
from hardpoint.apiserver.custom.serving import Serving
from hardpoint.apiserver.custom.writing import Writer
from hardpoint.apiserver.hub import Hub
from hardpoint.apiserver.mirror import Follower
from hardpoint.apiserver.places import ROOT
from hardpoint.apiserver.reader import StoreReader
from hardpoint.apiserver.registry import Registry
from hardpoint.machinery.messages import Handler
from hardpoint.machinery.stored import to_object
from hardpoint.machinery.timestamps import format_time
from hardpoint.runtime.workqueue import WorkQueue
from hardpoint.store.contract import Store

Json = dict[str, Any]

GROUP, PLURAL = "apiextensions.k8s.io", "customresourcedefinitions"


class _Group:
    """The definitions of one group, without their schemas: only those of one group can want the same names."""

    def __init__(self) -> None:
        self.members: dict[str, Json] = {}
        self.waiting: dict[str, None] = {}
        """Who does not have all the names it wants; who has waited longest comes first."""

    def remember(self, name: str, definition: Json) -> None:
        self.members[name] = _without_schemas(definition)
        if conditions.is_true(definition, "NamesAccepted"):
            self.waiting.pop(name, None)
        else:
            self.waiting[name] = None

    def forget(self, name: str) -> None:
        self.members.pop(name, None)
        self.waiting.pop(name, None)


class CustomResources:
    """The definitions of one server. What they define is served while this runs."""

    def __init__(
        self, hub: Hub, store: Store, registry: Registry, handle: Handler, now: Callable[[], datetime]
    ) -> None:
        self._converters = Converters(StoreReader(store))
        self.families = self._converters.families
        self._serving = Serving(registry, self._converters, lambda: hub.revision)
        self._writer = Writer(handle)
        self._now: Callable[[], str] = lambda: format_time(now())
        self._removal = Removal(hub, store, self._serving, self._writer, self._read, self._now)
        self._store = store
        self._definitions = Follower(hub, store, GROUP, PLURAL, self._changed)
        self._groups: defaultdict[str, _Group] = defaultdict(_Group)
        self._queue: WorkQueue[str] = WorkQueue("custom resource definitions")

    async def load(self) -> None:
        """Serve what was established before. To be called once, when the hub is running."""
        await self._definitions.load()

    async def run(self) -> None:
        """Move definitions on until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            # One at a time: who comes first has the name.
            tasks.create_task(self._queue.work(self._look), name="custom resource definitions")
            tasks.create_task(self._removal.run(), name="removal of custom resources")
            tasks.create_task(self._converters.run(), name="converters of custom resources")

    async def _read(self, name: str) -> Json | None:
        found = await self._store.get(f"{ROOT}{GROUP}/{PLURAL}/{name}")
        return to_object(found.value, found.revision) if found is not None else None

    def _changed(self, _: str, name: str, definition: Json | None) -> None:
        from hardpoint.apiserver.custom import judging  # Not before there are definitions.

        group = self._groups[name.partition(".")[2]]
        if definition is None:
            group.forget(name)
            self._serving.hide(name)
            self._reconsider(group)
            return
        group.remember(name, definition)
        self._serving.show(name, definition)
        if conditions.is_going(definition):
            self._removal.add(name)
        elif not judging.is_settled(definition):
            self._queue.add(name)

    def _reconsider(self, group: _Group, *, but: str = "") -> None:
        """Names may have become free for those who wait for them."""
        for name in group.waiting:
            if name != but:
                self._queue.add(name)

    async def _look(self, name: str) -> None:
        from hardpoint.apiserver.custom import judging

        definition = await self._read(name)
        if definition is None or conditions.is_going(definition):
            return
        group = self._groups[name.partition(".")[2]]
        others = (other for key, other in group.members.items() if key != name)
        changed = judging.judged(definition, others, self._now())
        if changed["status"] == definition.get("status"):
            return
        written = await self._writer.status(changed)
        if written is not None:
            # Whoever is judged next must know, even before this is told.
            group.remember(name, written)
            self._reconsider(group, but=name)


def _without_schemas(definition: Json) -> Json:
    """A definition without what makes it large."""
    metadata = {name: value for name, value in definition["metadata"].items() if name != "managedFields"}
    versions = [
        {name: part for name, part in each.items() if name != "schema"} for each in definition["spec"]["versions"]
    ]
    return {**definition, "metadata": metadata, "spec": {**definition["spec"], "versions": versions}}
