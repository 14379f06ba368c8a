"""The end of a definition: its objects are deleted like any others, and when the last is gone it goes itself.

Objects may have finalizers, so this may take for ever. Nobody waits: every change of an object has its definition
looked at again.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from copy import deepcopy
from typing import Any

from hardpoint.apiserver.custom import conditions
from hardpoint.apiserver.custom.conditions import Condition
from hardpoint.apiserver.custom.serving import Serving, overlaps
from hardpoint.apiserver.custom.writing import Writer
from hardpoint.apiserver.hub import Hub
from hardpoint.apiserver.places import ROOT
from hardpoint.machinery.errors import ApiError
from hardpoint.machinery.kinds import Kind
from hardpoint.runtime.workqueue import WorkQueue
from hardpoint.store.contract import Mismatch, Store

Json = dict[str, Any]

WORKERS = 4
_AFTER_SLASH = chr(ord("/") + 1)


class Removal:
    """Takes the objects of definitions that are going, and then the definitions."""

    def __init__(
        self,
        hub: Hub,
        store: Store,
        serving: Serving,
        writer: Writer,
        read: Callable[[str], Awaitable[Json | None]],
        now: Callable[[], str],
    ) -> None:
        self._hub = hub
        self._store = store
        self._serving = serving
        self._writer = writer
        self._read = read
        self._now = now
        self._heard: set[str] = set()
        self._queue: WorkQueue[str] = WorkQueue("removal of custom resources")

    def add(self, name: str) -> None:
        """Have a definition looked at that is marked for deletion."""
        self._queue.add(name)

    async def run(self) -> None:
        """Remove until cancelled."""
        await self._queue.work(self._look, workers=WORKERS)

    async def _look(self, name: str) -> None:
        definition = await self._read(name)
        if definition is None or conditions.CLEANUP not in (definition["metadata"].get("finalizers") or ()):
            return
        found = conditions.find(definition, "Terminating")
        if found is None or found.get("reason") == conditions.PENDING.reason:
            # Being told of this write is what brings the definition back here.
            await self._write(definition, conditions.IN_PROGRESS)
            return
        if overlaps(definition["spec"]):
            end = conditions.OVERLAPPING
        elif not conditions.is_true(definition, "Established"):
            end = conditions.NEVER_ESTABLISHED
        elif await self._is_emptied(name, definition):
            end = conditions.COMPLETED
        else:
            return
        await self._write(definition, end, is_done=True)

    async def _write(self, definition: Json, condition: Condition, *, is_done: bool = False) -> None:
        changed = {**definition, **deepcopy({part: definition[part] for part in ("metadata", "status")})}
        conditions.put(changed, condition, self._now())
        if is_done:
            changed["metadata"]["finalizers"].remove(conditions.CLEANUP)
        await self._writer.status(changed)

    async def _is_emptied(self, name: str, definition: Json) -> bool:
        """Delete what there is; whether nothing is left."""
        spec = definition["spec"]
        prefix = f"{ROOT}{spec['group']}/{spec['names']['plural']}/"
        if prefix not in self._heard:
            self._heard.add(prefix)
            self._hub.listen(prefix, lambda _: self._queue.add(name))
        served = self._serving.kinds(name)
        try:
            await (self._delete_all(_as_stored(served), prefix) if served else self._drop_all(prefix))
        except ApiError as failure:
            told = f"could not issue all deletes: {failure}"
            await self._write(definition, Condition("Terminating", "True", "InstanceDeletionFailed", told))
            raise
        return not (await self._store.range(prefix, limit=1)).items

    async def _delete_all(self, kind: Kind, prefix: str) -> None:
        path = f"/apis/{kind.api_version}"
        if not kind.namespaced:
            await self._writer.send("DELETE", f"{path}/{kind.plural}")
            return
        start = ""
        while page := (await self._store.range(prefix, start=start, limit=1)).items:
            namespace = page[0].key.removeprefix(prefix).partition("/")[0]
            await self._writer.send("DELETE", f"{path}/namespaces/{namespace}/{kind.plural}")
            start = f"{prefix}{namespace}{_AFTER_SLASH}"

    async def _drop_all(self, prefix: str) -> None:
        """Nobody can reach objects of which no version is served: nobody could remove their finalizers either."""
        for found in (await self._store.range(prefix)).items:
            try:
                await self._store.delete(found.key, expected=found.revision)
            except Mismatch:
                continue


def _as_stored(kinds: list[Kind]) -> Kind:
    """The version in which objects are stored if that is served: whoever converts may be gone already."""
    return next((kind for kind in kinds if kind.structure is not None and kind.structure.stored_as is None), kinds[0])
