"""Mirrors: what is in the store is in memory, from the start and after every write."""

from __future__ import annotations

from typing import Any

from hardpoint.apiserver.hub import Hub
from hardpoint.apiserver.mirror import Mirror
from hardpoint.machinery.stored import to_stored
from hardpoint.store.memory import MemoryStore

Json = dict[str, Any]
PREFIX = "/registry/rbac.authorization.k8s.io/roles/"


def role(name: str, **rest: Any) -> bytes:
    identity = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role"}
    return to_stored({**identity, "metadata": {"name": name, "namespace": "default"}, **rest})


async def test_a_mirror_holds_what_was_there_and_what_comes() -> None:
    store = MemoryStore()
    await store.create(PREFIX + "default/old", role("old"))
    hub = Hub(store)
    told: list[tuple[str, str, bool]] = []
    mirror = Mirror(
        hub,
        store,
        "rbac.authorization.k8s.io",
        "roles",
        lambda namespace, name, obj: told.append((namespace, name, obj is not None)),
    )
    async with hub.running():
        await mirror.load()
        assert mirror.get("default", "old") is not None
        created = await store.create(PREFIX + "default/new", role("new"))
        changed = await store.update(PREFIX + "default/new", role("new", rules=[]), expected=created)
        assert await hub.wait_until_reached(changed, seconds=5)
        new = mirror.get("default", "new")
        assert new is not None
        assert new["rules"] == []
        assert new["metadata"]["resourceVersion"] == str(changed)
        gone = await store.delete(PREFIX + "default/new", expected=changed)
        assert await hub.wait_until_reached(gone, seconds=5)
        assert mirror.get("default", "new") is None
        assert [obj["metadata"]["name"] for obj in mirror] == ["old"]
    assert told == [
        ("default", "old", True),
        ("default", "new", True),
        ("default", "new", True),
        ("default", "new", False),
    ]


async def test_a_write_between_the_hubs_start_and_the_load_is_told_once() -> None:
    store = MemoryStore()
    hub = Hub(store)
    told: list[Json | None] = []
    mirror = Mirror(hub, store, "rbac.authorization.k8s.io", "roles", lambda namespace, name, obj: told.append(obj))
    async with hub.running():
        revision = await store.create(PREFIX + "default/early", role("early"))
        await mirror.load()
        assert await hub.wait_until_reached(revision, seconds=5)
    assert len(told) == 1


async def test_waiting_for_what_never_comes_ends() -> None:
    store = MemoryStore()
    hub = Hub(store)
    async with hub.running():
        assert not await hub.wait_until_reached(await store.revision() + 1, seconds=0.01)
    assert not hub._awaited
