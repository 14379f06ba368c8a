"""Reads of the newest state for the server's own parts: admission, allotment, reviews."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hardpoint.apiserver.places import ROOT
from hardpoint.machinery.stored import to_object
from hardpoint.store.contract import Store

Json = dict[str, Any]


class StoreReader:
    """Objects as they are stored, by group and plural."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def get(self, group: str, plural: str, namespace: str, name: str) -> Json | None:
        prefix = _prefix(group, plural, namespace)
        found = await self._store.get(prefix + name)
        return to_object(found.value, found.revision) if found else None

    async def list(self, group: str, plural: str, namespace: str = "") -> Sequence[Json]:
        page = await self._store.range(_prefix(group, plural, namespace))
        return [to_object(found.value, found.revision) for found in page.items]


def _prefix(group: str, plural: str, namespace: str) -> str:
    prefix = f"{ROOT}{group or 'core'}/{plural}/"
    return f"{prefix}{namespace}/" if namespace else prefix
