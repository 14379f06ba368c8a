"""Objects of one resource in memory, as they are in the store: for what is asked at every request.

    roles = Mirror(hub, store, "rbac.authorization.k8s.io", "clusterroles")
    async with hub.running():
        await roles.load()
        roles.get("", "cluster-admin")

A mirror is told of a write right after everybody else who watches. Who must see a write that just happened waits with
`Hub.wait_until_reached`. Who keeps something of its own instead of the objects is told of them by a Follower.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from hardpoint.apiserver.hub import Change, Hub
from hardpoint.apiserver.places import ROOT
from hardpoint.machinery.stored import to_object
from hardpoint.store.contract import Store

Json = dict[str, Any]
Listener = Callable[[str, str, Json | None], None]
"""Called with namespace, name and the object, or None when it is gone; it must not wait and must not raise."""


class Follower:
    """Tells of every object of one resource there is, and of every change from then on."""

    def __init__(self, hub: Hub, store: Store, group: str, plural: str, listener: Listener) -> None:
        self._prefix = f"{ROOT}{group or 'core'}/{plural}/"
        self._store = store
        self._listener = listener
        self._loaded = 0
        self._overtook: set[str] = set()
        """What changed while it was loaded: what the load says of it may be older."""
        hub.listen(self._prefix, self._changed)

    async def load(self) -> None:
        """Read what there is. To be called once, when the hub is running."""
        page = await self._store.range(self._prefix)
        for found in page.items:
            if found.key not in self._overtook:
                self._tell(found.key, to_object(found.value, found.revision))
        self._loaded = page.revision
        self._overtook.clear()

    def _changed(self, change: Change) -> None:
        if change.revision <= self._loaded:
            return
        if not self._loaded:
            self._overtook.add(change.key)
        self._tell(change.key, to_object(change.value, change.revision) if change.value is not None else None)

    def _tell(self, key: str, obj: Json | None) -> None:
        namespace, _, name = key.removeprefix(self._prefix).rpartition("/")
        self._listener(namespace, name, obj)


class Mirror(Follower):
    """The objects of one resource by namespace and name, shared by everybody who asks and not to be changed."""

    def __init__(self, hub: Hub, store: Store, group: str, plural: str, listener: Listener | None = None) -> None:
        super().__init__(hub, store, group, plural, self._put)
        self._also_told = listener
        self._objects: dict[tuple[str, str], Json] = {}

    def get(self, namespace: str, name: str) -> Json | None:
        return self._objects.get((namespace, name))

    def __iter__(self) -> Iterator[Json]:
        return iter(self._objects.values())

    def __len__(self) -> int:
        return len(self._objects)

    def _put(self, namespace: str, name: str, obj: Json | None) -> None:
        if obj is None:
            self._objects.pop((namespace, name), None)
        else:
            self._objects[namespace, name] = obj
        if self._also_told is not None:
            self._also_told(namespace, name, obj)
