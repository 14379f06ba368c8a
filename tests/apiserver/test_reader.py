"""Reads from memory: as new as the last write that was acknowledged, whoever wrote it and whenever it was read."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from hardpoint.apiserver.hub import Hub
from hardpoint.apiserver.reader import FollowingReader
from hardpoint.machinery.stored import to_stored
from hardpoint.store.contract import KeyValue
from hardpoint.store.memory import MemoryStore

PREFIX = "/registry/core/namespaces/"


def namespace(name: str, **labels: str) -> bytes:
    return to_stored({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}})


class CountingStore(MemoryStore):
    """Counts reads, and holds them back while `gate` is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.reads = 0
        self.asked = asyncio.Event()
        self.gate = asyncio.Event()
        self.gate.set()

    async def get(self, key: str, *, revision: int = 0) -> KeyValue | None:
        self.reads += 1
        self.asked.set()
        found = await super().get(key, revision=revision)
        await self.gate.wait()
        return found


@pytest.fixture
def store() -> CountingStore:
    return CountingStore()


async def labels(reader: FollowingReader, name: str) -> Any:
    found = await reader.get("", "namespaces", "", name)
    return None if found is None else found["metadata"]["labels"]


async def test_what_did_not_change_is_read_once(store: CountingStore) -> None:
    await store.create(PREFIX + "a", namespace("a"))
    hub = Hub(store)
    async with hub.running():
        reader = FollowingReader(store, hub)
        for _ in range(3):
            assert await labels(reader, "a") == {}
        assert store.reads == 1


async def test_an_acknowledged_write_is_seen_at_once(store: CountingStore) -> None:
    created = await store.create(PREFIX + "a", namespace("a"))
    hub = Hub(store)
    async with hub.running():
        reader = FollowingReader(store, hub)
        assert await labels(reader, "a") == {}
        assert len(await reader.list("", "namespaces")) == 1
        updated = await store.update(PREFIX + "a", namespace("a", team="b"), expected=created)
        assert await labels(reader, "a") == {"team": "b"}
        await store.create(PREFIX + "c", namespace("c"))
        assert len(await reader.list("", "namespaces")) == 2
        await store.delete(PREFIX + "a", expected=updated)
        assert await labels(reader, "a") is None


async def test_a_read_that_a_write_overtook_is_not_kept(store: CountingStore) -> None:
    created = await store.create(PREFIX + "a", namespace("a"))
    hub = Hub(store)
    async with hub.running():
        reader = FollowingReader(store, hub)
        store.gate.clear()
        slow = asyncio.create_task(labels(reader, "a"))
        await store.asked.wait()
        await store.update(PREFIX + "a", namespace("a", team="b"), expected=created)
        store.gate.set()
        assert await slow == {}
        assert await labels(reader, "a") == {"team": "b"}
