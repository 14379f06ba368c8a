"""Informers against a real server: what is read, what is told, and to whom."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from hardpoint.apiserver.server import ApiServer
from hardpoint.client.client import Client
from hardpoint.machinery.messages import User
from hardpoint.runtime import Change, Informers, Key
from hardpoint.runtime.informer import Informer
from hardpoint.store.memory import MemoryStore

Json = dict[str, Any]

ADMIN = User("admin", ("system:masters",))


@pytest.fixture
async def client() -> AsyncIterator[Client]:
    async with ApiServer(MemoryStore()).running() as api:
        yield Client.in_process(api.handle, ADMIN)


@pytest.fixture
async def informers(client: Client) -> Informers:
    return Informers(client)


def config_map(name: str, namespace: str = "default", owner: str = "", **labels: str) -> Json:
    metadata: Json = {"name": name, "namespace": namespace, "labels": labels}
    if owner:
        metadata["ownerReferences"] = [{"apiVersion": "v1", "kind": "ConfigMap", "name": owner, "uid": owner}]
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}


class Told:
    """Notes what it is told, and can be waited for."""

    def __init__(self) -> None:
        self.changes: list[Change] = []
        self._news = asyncio.Event()

    def __call__(self, change: Change) -> None:
        self.changes.append(change)
        self._news.set()

    @property
    def short(self) -> list[tuple[str, str]]:
        return [(change.type, str(change.key)) for change in self.changes]

    async def until(self, is_enough: Callable[[], bool]) -> None:
        async with asyncio.timeout(10):
            while not is_enough():
                self._news.clear()
                await self._news.wait()

    async def until_count(self, count: int) -> None:
        await self.until(lambda: len(self.changes) >= count)


async def synced(informer: Informer) -> None:
    async with asyncio.timeout(10):
        await informer.wait_until_synced()


def names(found: list[Json]) -> list[str]:
    return sorted(each["metadata"]["name"] for each in found)


async def test_what_is_there_and_what_happens_is_told_and_can_be_read(client: Client, informers: Informers) -> None:
    await client.create(config_map("a"))
    informer, told = informers.get("v1 ConfigMap", namespace="default"), Told()
    informer.subscribe(told)
    async with informers.running():
        await synced(informer)
        b = await client.create(config_map("b"))
        b["data"] = {"x": "1"}
        await client.update(b)
        await client.delete("configmaps", "a")
        await told.until_count(4)
        assert informer.keys() == [Key("default", "b")]
        assert informer.read(("default", "a")) is None
    assert told.short == [
        ("ADDED", "default/a"),
        ("ADDED", "default/b"),
        ("MODIFIED", "default/b"),
        ("DELETED", "default/a"),
    ]
    assert [change.is_initial for change in told.changes] == [True, False, False, False]
    modified, deleted = told.changes[2:]
    assert modified.old is not None
    assert modified.new is not None
    assert ("data" in modified.old, modified.new["data"]) == (False, {"x": "1"})
    assert deleted.new is None
    assert deleted.object["metadata"]["name"] == "a"
