"""Reads of the newest state for the server's own parts: admission, allotment, reviews."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hardpoint.apiserver.places import ROOT
from hardpoint.machinery.stored import to_object
from hardpoint.store.contract import Store

Json = dict[str, Any]


REMEMBERED_MAX = 1024


class StoreReader:
    """Objects as they are stored, by group and plural; shared by everybody who asks, and not to be changed."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._remembered: dict[str, tuple[int, Json]] = {}
        """What was decoded last, by key, with its revision: every pod asks for the same namespace and account."""

    async def get(self, group: str, plural: str, namespace: str, name: str) -> Json | None:
        key = _prefix(group, plural, namespace) + name
        found = await self._store.get(key)
        if found is None:
            return None
        revision, obj = self._remembered.get(key, (0, {}))
        if revision != found.revision:
            if len(self._remembered) >= REMEMBERED_MAX:
                self._remembered.clear()
            obj = to_object(found.value, found.revision)
            self._remembered[key] = (found.revision, obj)
        return obj

    async def list(self, group: str, plural: str, namespace: str = "") -> Sequence[Json]:
        page = await self._store.range(_prefix(group, plural, namespace))
        return [to_object(found.value, found.revision) for found in page.items]


def _prefix(group: str, plural: str, namespace: str) -> str:
    prefix = f"{ROOT}{group or 'core'}/{plural}/"
    return f"{prefix}{namespace}/" if namespace else prefix
