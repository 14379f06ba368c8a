"""Reads for the server's own parts: admission, authentication, reviews.

Nearly every write asks for the same few objects, its namespace above all: a FollowingReader asks the store once and
remembers, until it is told of a change. It has seen every write that this process acknowledged; what others wrote into
the same store it sees as soon as a watch does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hardpoint.apiserver.hub import Hub
from hardpoint.apiserver.places import ROOT
from hardpoint.machinery.stored import to_object
from hardpoint.store.contract import Store

Json = dict[str, Any]

REMEMBERED_MAX = 1024
"""So many objects are kept of each resource."""


class StoreReader:
    """Objects as they are stored, by group and plural; shared by everybody who asks, and not to be changed."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def get(self, group: str, plural: str, namespace: str, name: str) -> Json | None:
        found = await self._store.get(_prefix(group, plural, namespace) + name)
        return None if found is None else to_object(found.value, found.revision)

    async def list(self, group: str, plural: str, namespace: str = "") -> Sequence[Json]:
        page = await self._store.range(_prefix(group, plural, namespace))
        return [to_object(found.value, found.revision) for found in page.items]


class FollowingReader(StoreReader):
    """The same, from memory where nothing changed since it was last asked for."""

    def __init__(self, store: Store, hub: Hub) -> None:
        super().__init__(store)
        self._hub = hub
        self._known: dict[tuple[str, str], _Known] = {}

    async def get(self, group: str, plural: str, namespace: str, name: str) -> Json | None:
        known = self._known.get((group, plural)) or self._follow(group, plural)
        found = known.objects.get((namespace, name))
        if found is None:
            changes = known.changes
            found = await super().get(group, plural, namespace, name)
            # What changed while it was read may be older than the change.
            if found is not None and changes == known.changes:
                known.keep(namespace, name, found)
        return found

    async def list(self, group: str, plural: str, namespace: str = "") -> Sequence[Json]:
        known = self._known.get((group, plural)) or self._follow(group, plural)
        found = known.lists.get(namespace)
        if found is None:
            changes = known.changes
            found = await super().list(group, plural, namespace)
            if len(found) <= REMEMBERED_MAX and changes == known.changes:
                known.lists[namespace] = found
        return found

    def _follow(self, group: str, plural: str) -> _Known:
        prefix = _prefix(group, plural, "")
        known = self._known[group, plural] = _Known(prefix)
        self._store.on_write(prefix, known.changed)
        self._hub.listen(prefix, lambda change: known.changed(change.key))
        return known


class _Known:
    """What is remembered of one resource, until it changes."""

    __slots__ = ("_prefix", "changes", "lists", "objects")

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self.objects: dict[tuple[str, str], Json] = {}
        self.lists: dict[str, Sequence[Json]] = {}
        self.changes = 0

    def keep(self, namespace: str, name: str, found: Json) -> None:
        if len(self.objects) >= REMEMBERED_MAX:
            self.objects.clear()
        self.objects[namespace, name] = found

    def changed(self, key: str) -> None:
        namespace, _, name = key.removeprefix(self._prefix).rpartition("/")
        self.changes += 1
        self.objects.pop((namespace, name), None)
        self.lists.clear()


def _prefix(group: str, plural: str, namespace: str) -> str:
    prefix = f"{ROOT}{group or 'core'}/{plural}/"
    return f"{prefix}{namespace}/" if namespace else prefix
