"""Informers against a real server: what is read, what is told, and to whom."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from hardpoint.apiserver.server import ApiServer
from hardpoint.client.client import Client
from hardpoint.machinery.messages import Request, Response, User
from hardpoint.machinery.selectors import BadSelector
from hardpoint.runtime import Change, Informer, Informers, Key, by_label, by_owner_uid, unchanged
from hardpoint.store.contract import Store
from hardpoint.store.memory import MemoryStore
from hardpoint.store.sqlite import SqliteStore

from .unreliable import TOYS, Unreliable

Json = dict[str, Any]

ADMIN = User("admin", ("system:masters",))


@pytest.fixture(params=["memory", "sqlite"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    store: Store = MemoryStore() if request.param == "memory" else await SqliteStore.open(tmp_path / "data")
    yield store
    await store.close()


@pytest.fixture
async def client(store: Store) -> AsyncIterator[Client]:
    async with ApiServer(store).running() as api:
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


async def test_late_subscribers_are_told_what_is_there_and_leave_when_they_like(
    client: Client, informers: Informers
) -> None:
    informer, early, late = informers.get("configmaps", namespace="default"), Told(), Told()
    informer.subscribe(early)
    async with informers.running():
        await synced(informer)
        await client.create(config_map("a"))
        await early.until_count(1)
        leave = informer.subscribe(late)
        await late.until_count(1)
        await client.create(config_map("b"))
        await late.until_count(2)
        leave()
        leave()
        await client.create(config_map("c"))
        await early.until_count(3)
    assert late.short == [("ADDED", "default/a"), ("ADDED", "default/b")]
    assert [change.is_initial for change in late.changes] == [True, False]


async def test_a_change_before_its_object_was_told_counts_for_it(client: Client, informers: Informers) -> None:
    informer = informers.get("configmaps", namespace="default")
    for name in ("changes", "goes"):
        await client.create(config_map(name))
    async with informers.running():
        await synced(informer)
        first, late = Told(), Told()
        informer.subscribe(first)
        await first.until_count(2)

        def subscribe_late(change: Change) -> None:
            if change.type == "MODIFIED":
                informer.subscribe(late)

        # Whoever subscribes while a change is being told has not been told what was there before it.
        informer.subscribe(subscribe_late)
        await client.patch("configmaps", "changes", {"data": {"x": "1"}})
        await late.until_count(2)
    assert sorted(late.short) == [("ADDED", "default/changes"), ("ADDED", "default/goes")]
    changed = next(change for change in late.changes if change.key.name == "changes")
    assert changed.object["data"] == {"x": "1"}


async def test_a_handler_that_raises_harms_nobody(
    client: Client, informers: Informers, caplog: pytest.LogCaptureFixture
) -> None:
    informer, told = informers.get("configmaps", namespace="default"), Told()

    def broken(change: Change) -> None:
        raise KeyError("a bug")

    informer.subscribe(broken)
    informer.subscribe(told)
    async with informers.running():
        await synced(informer)
        await client.create(config_map("a"))
        await told.until_count(1)
    (logged,) = [record for record in caplog.records if record.message == "handler failed"]
    assert (logged.__dict__["change"], logged.__dict__["object"]) == ("ADDED", "default/a")


async def test_selections_and_indexes(client: Client, informers: Informers) -> None:
    await client.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "other"}})
    await client.create(config_map("a", app="x", tier="front"))
    await client.create(config_map("b", app="x", tier="back", owner="a"))
    await client.create(config_map("c", "other", app="x", tier="back", owner="a"))
    await client.create(config_map("d", app="y"))
    informer = informers.get("v1 ConfigMap", label_selector="app=x")
    informer.add_index("owner", by_owner_uid)
    async with informers.running():
        await synced(informer)
        informer.add_index("tier", by_label("tier"))
        informer.add_index("tier", informer._cache.watched.index("tier").function)
        assert len(informer) == 3
        assert names(informer.read_all(namespace="default")) == ["a", "b"]
        assert names(informer.read_all(selector="tier in (back, side)")) == ["b", "c"]
        assert names(informer.read_all(namespace="other", selector="tier=front")) == []
        assert names(informer.by_index("owner", "a")) == ["b", "c"]
        assert informer.keys_by_index("tier", "front") == [Key("default", "a")]
        assert informer.by_index("tier", "nothing") == []
        with pytest.raises(BadSelector):
            informer.read_all(selector="tier in")
        with pytest.raises(KeyError, match=r"no index 'colour'; add_index makes one \(there are: owner, tier\)"):
            informer.by_index("colour", "red")
        with pytest.raises(ValueError, match="there is an index 'owner' already"):
            informer.add_index("owner", by_label("x"))


async def test_who_leaves_the_selection_is_deleted(client: Client, informers: Informers) -> None:
    await client.create(config_map("a", app="x"))
    informer, told = informers.get("configmaps", namespace="default", label_selector="app=x"), Told()
    informer.subscribe(told)
    async with informers.running():
        await synced(informer)
        await client.patch("configmaps", "a", {"metadata": {"labels": {"app": "y"}}})
        await told.until_count(2)
        assert len(informer) == 0
    assert told.short[1] == ("DELETED", "default/a")


async def test_what_somebody_does_to_a_copy_stays_with_them(client: Client, informers: Informers) -> None:
    await client.create(config_map("a"))
    informer = informers.get("configmaps", namespace="default")
    async with informers.running():
        await synced(informer)
        for found in (informer.read(("default", "a")), *informer.read_all()):
            assert found is not None
            found["metadata"].clear()
        assert names(informer.read_all()) == ["a"]


async def test_managed_fields_are_left_out_unless_wanted(client: Client, informers: Informers) -> None:
    await client.create(config_map("a", app="x"))
    lean = informers.get("configmaps", namespace="default")
    whole = informers.get("configmaps", namespace="default", transform=unchanged)
    partial = informers.get("configmaps", namespace="default", metadata_only=True)
    assert informers.get("configmaps", namespace="default") is lean
    async with informers.running(), asyncio.timeout(10):
        await informers.wait_until_synced()
    found = [informer.read(("default", "a")) for informer in (lean, whole, partial)]
    assert ["managedFields" in each["metadata"] for each in found if each] == [False, True, False]
    assert [each["kind"] for each in found if each] == ["ConfigMap", "ConfigMap", "PartialObjectMetadata"]


def fails(found: Json) -> Any:
    raise KeyError("a bug")


def forgets_to_return(found: Json) -> Any:
    """A common mistake."""


@pytest.mark.parametrize("transform", [fails, forgets_to_return])
async def test_own_functions_that_fail_are_told_once_and_harm_nobody(
    client: Client, informers: Informers, caplog: pytest.LogCaptureFixture, transform: Callable[[Json], Any]
) -> None:
    for name in "abc":
        await client.create(config_map(name))
    informer = informers.get("configmaps", namespace="default", transform=transform)
    informer.add_index("broken", fails)
    async with informers.running():
        await synced(informer)
        assert names(informer.read_all()) == ["a", "b", "c"]
        assert informer.by_index("broken", "") == []
    failed = [record.message for record in caplog.records if record.levelno == logging.ERROR]
    assert sorted(failed) == ["index function failed", "transform failed, objects are kept as they are"]


async def test_what_was_written_can_be_read_at_once(client: Client, informers: Informers) -> None:
    informer, told = informers.get("configmaps", namespace="default", label_selector="app=x"), Told()
    informer.add_index("tier", by_label("tier"))
    informer.subscribe(told)
    async with informers.running():
        await synced(informer)
        written = await client.create(config_map("a", app="x", tier="front"))
        informer.note_written(written)
        assert (len(informer), len(told.changes)) == (1, 0), "it is there before the watch told of it"
        assert names(informer.by_index("tier", "front")) == names(informer.read_all()) == ["a"]
        assert "managedFields" in written["metadata"], "the writer's object is the writer's"
        await told.until_count(1)
        assert (told.changes[0].type, told.changes[0].old) == ("ADDED", None)
        informer.note_written(await client.create(config_map("b", app="y")))
        assert informer.read(("default", "b")) is None, "the selection leaves it out"
        newer = await client.patch("configmaps", "a", {"metadata": {"labels": {"tier": "back"}}})
        informer.note_written(newer)
        informer.note_written(written)
        assert names(informer.by_index("tier", "back")) == ["a"], "the older of two does not count"
        assert informer.by_index("tier", "front") == []
        await told.until_count(2)
        old = told.changes[1].old
        assert old is not None
        assert old["metadata"]["labels"]["tier"] == "front", "the watch goes its own way"
        assert not informer._cache._ahead


async def test_what_a_field_selector_may_leave_out_is_not_noted(client: Client, informers: Informers) -> None:
    await client.create(config_map("a"))
    informer = informers.get("configmaps", field_selector="metadata.name=a")
    async with informers.running():
        await synced(informer)
        informer.note_written(await client.create(config_map("b")))
        informer.note_written(await client.patch("configmaps", "a", {"data": {"x": "1"}}))
        assert [found.get("data") for found in informer.read_all()] == [{"x": "1"}]
        elsewhere = informers.get("configmaps", namespace="elsewhere")
        elsewhere.note_written(await client.create(config_map("c")))
        assert len(elsewhere) == 0


async def test_waiting_until_a_write_was_seen(client: Client, informers: Informers) -> None:
    informer = informers.get("configmaps", namespace="default")
    async with informers.running(), asyncio.timeout(10):
        await synced(informer)
        written = await client.create(config_map("a"))
        await informer.wait_until_seen(written["metadata"]["resourceVersion"])
        assert names(informer.read_all()) == ["a"]
        await informer.wait_until_seen(written["metadata"]["resourceVersion"])
        await informer.wait_until_seen("from-another-kind-of-server")


async def test_everything_is_told_again_now_and_then(client: Client, informers: Informers) -> None:
    for name in "ab":
        await client.create(config_map(name))
    informer, told = informers.get("configmaps", namespace="default"), Told()
    informer.subscribe(told, resync_seconds=0.01)
    async with informers.running():
        await told.until_count(6)
    again = told.changes[2:6]
    assert [(change.type, change.is_resync, change.is_initial) for change in again] == [("MODIFIED", True, False)] * 4
    assert all(change.old == change.new for change in again)
    assert not any(change.is_resync for change in told.changes[:2])


async def test_what_is_known_outlives_a_stop_and_is_followed_further(client: Client, informers: Informers) -> None:
    informer, told = informers.get("configmaps", namespace="default"), Told()
    informer.subscribe(told)
    await client.create(config_map("a"))
    async with informers.running():
        await synced(informer)
    await client.delete("configmaps", "a")
    await client.create(config_map("b"))
    assert names(informer.read_all()) == ["a"]
    async with informers.running():
        await told.until_count(3)
    assert told.short == [("ADDED", "default/a"), ("DELETED", "default/a"), ("ADDED", "default/b")]
    assert informer.syncs == 1, "nothing was forgotten, so nothing is listed again"


async def test_what_a_server_forgot_over_a_restart_is_made_up_for(store: Store) -> None:
    server = ApiServer(store)

    async def handle(request: Request) -> Response:
        return await server.handle(request)

    client = Client.in_process(handle, ADMIN)
    informers, told = Informers(client), Told()
    informer = informers.get("configmaps", namespace="default")
    informer.subscribe(told)
    async with server.running():
        for name in ("stays", "goes", "changes"):
            await client.create(config_map(name, app="x"))
        async with informers.running():
            await synced(informer)
        await client.delete("configmaps", "goes")
        await client.patch("configmaps", "changes", {"data": {"x": "1"}})
        await client.create(config_map("comes"))
    await store.compact(await store.revision())
    server = ApiServer(store)
    async with server.running(), informers.running():
        await told.until_count(6)
    assert sorted(told.short[3:]) == [
        ("ADDED", "default/comes"),
        ("DELETED", "default/goes"),
        ("MODIFIED", "default/changes"),
    ]
    gone = next(change for change in told.changes if change.type == "DELETED")
    assert gone.object["metadata"]["labels"] == {"app": "x"}, "it is told with what was last known"
    assert names(informer.read_all()) == ["changes", "comes", "stays"]


async def test_an_informer_asked_for_later_starts_at_once(client: Client, informers: Informers) -> None:
    await client.create(config_map("a"))
    async with informers.running():
        informer = informers.get("configmaps", namespace="default")
        await synced(informer)
        assert names(informer.read_all()) == ["a"]
        assert [each.name for each in informers] == ["configmaps in default"]


# What a real server does not do on demand.


async def test_what_went_unnoticed_is_told_with_what_was_last_known() -> None:
    server, told = Unreliable(), Told()
    server.write("one", "a", colour="red")
    informers = Informers(server.client())
    informer = informers.get(TOYS)
    informer.subscribe(told)
    async with informers.running():
        await synced(informer)
    server.delete("one", "a")
    server.compact()
    async with informers.running():
        await told.until_count(2)
    gone = told.changes[1]
    assert (gone.type, gone.new, informer.syncs) == ("DELETED", None, 2)
    assert gone.object["metadata"]["labels"] == {"colour": "red"}


async def test_a_server_that_does_not_have_it_yet_is_asked_again() -> None:
    server = Unreliable(refusals=[404, 403, 404, 422, 500])
    server.write("one", "a")
    informers = Informers(server.client())
    informer = informers.get(TOYS)
    async with informers.running():
        await synced(informer)
        assert (informer.failure, len(informer)) == ("", 1)
    assert len(server.asked) >= 5


async def test_a_long_list_keeps_nobody_waiting() -> None:
    server = Unreliable()
    for number in range(3000):
        server.write("one", f"n{number}")
    informers, turns = Informers(server.client()), 0
    informer = informers.get(TOYS)

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async with informers.running(), asyncio.TaskGroup() as tasks:
        working = tasks.create_task(others())
        await synced(informer)
        before = turns
        told = Told()
        informer.subscribe(told)
        await told.until_count(3000)
        working.cancel()
    assert before > 5
    assert turns > before + 2
