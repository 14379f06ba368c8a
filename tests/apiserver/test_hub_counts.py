"""Counts that are followed instead of made anew: they are the store's, and the store is asked once."""

from __future__ import annotations

import asyncio
import random

import pytest

from hardpoint.apiserver import hub as hub_module
from hardpoint.apiserver.hub import Hub
from hardpoint.apiserver.places import Place, place
from hardpoint.machinery import kinds
from hardpoint.store.memory import MemoryStore


class CountingStore(MemoryStore):
    """Knows how often it had to count."""

    def __init__(self) -> None:
        super().__init__()
        self.counted = 0

    async def count(self, prefix: str) -> int:
        self.counted += 1
        return await super().count(prefix)


def config_maps() -> Place:
    kind = kinds.by_kind("v1", "ConfigMap")
    assert kind is not None
    return place(kind)


async def caught_up(hub: Hub, store: MemoryStore) -> int:
    async with asyncio.timeout(10):
        while hub.revision < await store.revision():  # noqa: ASYNC110 It tells what changed, not that it moved.
            await asyncio.sleep(0)
    return hub.revision


@pytest.mark.parametrize("seed", range(5))
async def test_a_followed_count_is_the_stores_and_asked_for_once(seed: int) -> None:
    store, where, chance = CountingStore(), config_maps(), random.Random(seed)
    hub, prefix = Hub(store), where.range_prefix("one")
    live: dict[str, int] = {}
    async with hub.running():
        for step in range(200):
            key = where.key(chance.choice(("one", "one", "two")), f"m{chance.randrange(40)}")
            if key not in live:
                live[key] = await store.create(key, b"{}")
            elif chance.random() < 0.5:
                live[key] = await store.update(key, b"{ }", expected=live[key])
            else:
                await store.delete(key, expected=live.pop(key))
            if step % 7 == 0:
                at = await caught_up(hub, store)
                assert await hub.count(where, prefix, at=at) == sum(key.startswith(prefix) for key in live)
    assert store.counted == 1


async def test_a_hub_that_is_behind_asks_the_store() -> None:
    store, where = CountingStore(), config_maps()
    hub = Hub(store)
    async with hub.running():
        assert await hub.count(where, where.prefix, at=0) == 0
        revision = await store.create(where.key("one", "a"), b"{}")
        assert await hub.count(where, where.prefix, at=revision) == 1


async def test_what_fell_out_of_the_log_is_counted_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub_module, "LOG_EVENTS_MAX", 3)
    store, where = CountingStore(), config_maps()
    hub = Hub(store)
    async with hub.running():
        assert await hub.count(where, where.prefix, at=0) == 0
        for number in range(8):
            await store.create(where.key("one", f"m{number}"), b"{}")
        at = await caught_up(hub, store)
        assert await hub.count(where, where.prefix, at=at) == 8
        assert await hub.count(where, where.prefix, at=at) == 8
    assert store.counted == 2
