"""What every engine promises, held against each of them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest

from hardpoint.store.contract import (
    Compacted,
    Event,
    FutureRevision,
    KeyExists,
    KeyValue,
    Mismatch,
    Store,
)


async def test_a_new_key_is_read_back(store: Store) -> None:
    before = await store.revision()
    revision = await store.create("/registry/pods/a", b"one")
    assert revision == before + 1
    assert await store.get("/registry/pods/a") == KeyValue("/registry/pods/a", b"one", revision, revision)
    assert await store.revision() == revision


async def test_a_missing_key_is_none(store: Store) -> None:
    assert await store.get("/registry/pods/none") is None


async def test_create_refuses_a_taken_key(store: Store) -> None:
    revision = await store.create("/registry/pods/a", b"one")
    with pytest.raises(KeyExists):
        await store.create("/registry/pods/a", b"two")
    assert await store.revision() == revision, "a refused write takes no revision"


async def test_update_keeps_the_creation_and_moves_the_revision(store: Store) -> None:
    created = await store.create("/registry/pods/a", b"one")
    updated = await store.update("/registry/pods/a", b"two", expected=created)
    assert await store.get("/registry/pods/a") == KeyValue("/registry/pods/a", b"two", updated, created)
    assert updated == created + 1


async def test_a_stale_update_is_told_what_is_there(store: Store) -> None:
    created = await store.create("/registry/pods/a", b"one")
    updated = await store.update("/registry/pods/a", b"two", expected=created)
    with pytest.raises(Mismatch) as refusal:
        await store.update("/registry/pods/a", b"three", expected=created)
    assert refusal.value.current == KeyValue("/registry/pods/a", b"two", updated, created)


async def test_update_and_delete_of_a_missing_key_say_so(store: Store) -> None:
    with pytest.raises(Mismatch) as refusal:
        await store.update("/registry/pods/a", b"one", expected=7)
    assert refusal.value.current is None
    with pytest.raises(Mismatch) as refusal:
        await store.delete("/registry/pods/a", expected=7)
    assert refusal.value.current is None


async def test_a_deleted_key_begins_a_new_life(store: Store) -> None:
    created = await store.create("/registry/pods/a", b"one")
    deleted = await store.delete("/registry/pods/a", expected=created)
    assert await store.get("/registry/pods/a") is None
    again = await store.create("/registry/pods/a", b"two")
    assert again == deleted + 1
    assert await store.get("/registry/pods/a") == KeyValue("/registry/pods/a", b"two", again, again)


async def test_an_empty_value_is_a_value(store: Store) -> None:
    revision = await store.create("/registry/pods/a", b"")
    assert await store.get("/registry/pods/a") == KeyValue("/registry/pods/a", b"", revision, revision)


async def test_a_large_value_comes_back_whole(store: Store) -> None:
    value = bytes(range(256)) * 4000
    await store.create("/registry/pods/a", value)
    found = await store.get("/registry/pods/a")
    assert found is not None
    assert found.value == value


async def test_the_past_stays_readable(store: Store) -> None:
    empty = await store.revision()
    created = await store.create("/registry/pods/a", b"one")
    updated = await store.update("/registry/pods/a", b"two", expected=created)
    deleted = await store.delete("/registry/pods/a", expected=updated)
    assert await store.get("/registry/pods/a", revision=empty) is None
    assert await store.get("/registry/pods/a", revision=created) == KeyValue(
        "/registry/pods/a", b"one", created, created
    )
    assert await store.get("/registry/pods/a", revision=updated) == KeyValue(
        "/registry/pods/a", b"two", updated, created
    )
    assert await store.get("/registry/pods/a", revision=deleted) is None
    assert (await store.range("/registry/", revision=updated)).items == [
        KeyValue("/registry/pods/a", b"two", updated, created)
    ]


async def test_the_future_is_refused(store: Store) -> None:
    now = await store.revision()
    with pytest.raises(FutureRevision) as refusal:
        await store.get("/registry/pods/a", revision=now + 1)
    assert refusal.value.current == now
    with pytest.raises(FutureRevision):
        await store.range("/registry/", revision=now + 1)
    with pytest.raises(FutureRevision):
        await store.compact(now + 1)


async def test_a_range_is_its_prefix_in_order(store: Store) -> None:
    for key in ["/b/2", "/b/10", "/b/1", "/a/9", "/c/0", "/b", "/b0", "/b/é", "/b/\U0001f600"]:
        await store.create(key, key.encode())
    page = await store.range("/b/")
    assert [item.key for item in page.items] == ["/b/1", "/b/10", "/b/2", "/b/é", "/b/\U0001f600"]
    assert page.revision == await store.revision()
    assert not page.more
    assert await store.count("/b/") == 5
    assert await store.count("/none/") == 0
    assert len((await store.range("")).items) == await store.count("") == 9


async def test_pages_continue_where_they_ended(store: Store) -> None:
    keys = [f"/b/{number:03d}" for number in range(25)]
    for key in keys:
        await store.create(key, b"x")
    seen: list[str] = []
    first = await store.range("/b/", limit=10)
    page = first
    while True:
        seen += [item.key for item in page.items]
        if not page.more:
            break
        await store.create(f"{seen[-1]}-new", b"created after the first page was read")
        page = await store.range("/b/", start=f"{seen[-1]}\0", limit=10, revision=first.revision)
        assert page.revision == first.revision
    assert seen == keys


@pytest.mark.parametrize(("limit", "more"), [(2, True), (3, False), (4, False), (0, False)])
async def test_more_means_more(store: Store, limit: int, more: bool) -> None:
    for number in range(3):
        await store.create(f"/b/{number}", b"x")
    assert (await store.range("/b/", limit=limit)).more is more


async def test_a_watch_sees_every_kind_of_write(store: Store) -> None:
    begin = await store.revision()
    async with store.watch("/registry/pods/", after=begin) as batches:
        created = await store.create("/registry/pods/a", b"one")
        await store.create("/registry/nodes/n", b"elsewhere")
        updated = await store.update("/registry/pods/a", b"two", expected=created)
        deleted = await store.delete("/registry/pods/a", expected=updated)
        assert await take(batches, 3) == [
            Event("/registry/pods/a", b"one", created, None),
            Event("/registry/pods/a", b"two", updated, b"one"),
            Event("/registry/pods/a", None, deleted, b"two"),
        ]


async def test_a_watch_from_the_past_joins_the_present(store: Store) -> None:
    begin = await store.revision()
    for number in range(20):
        await store.create(f"/registry/pods/{number:02d}", b"old")
    async with store.watch("/registry/pods/", after=begin + 5) as batches:
        for number in range(20, 40):
            await store.create(f"/registry/pods/{number:02d}", b"new")
        events = await take(batches, 35)
    assert [event.revision for event in events] == list(range(begin + 6, begin + 41))


async def test_a_watch_after_a_later_revision_waits_for_it(store: Store) -> None:
    begin = await store.revision()
    async with store.watch("/registry/pods/", after=begin + 2) as batches:
        for number in range(4):
            await store.create(f"/registry/pods/{number}", b"x")
        assert [event.key for event in await take(batches, 2)] == ["/registry/pods/2", "/registry/pods/3"]


async def test_compaction_forgets_the_past_and_keeps_the_present(store: Store) -> None:
    begin = await store.revision()
    first = await store.create("/registry/pods/a", b"one")
    second = await store.update("/registry/pods/a", b"two", expected=first)
    gone = await store.create("/registry/pods/b", b"short")
    deleted = await store.delete("/registry/pods/b", expected=gone)
    third = await store.update("/registry/pods/a", b"three", expected=second)
    await store.compact(deleted)

    with pytest.raises(Compacted) as refusal:
        await store.get("/registry/pods/a", revision=first)
    assert refusal.value.floor == deleted
    with pytest.raises(Compacted):
        await store.range("/registry/", revision=deleted - 1)
    with pytest.raises(Compacted):
        async with store.watch("/registry/", after=begin) as batches:
            await take(batches, 1)

    assert (await store.range("/registry/", revision=deleted)).items == [
        KeyValue("/registry/pods/a", b"two", second, first)
    ]
    assert await store.get("/registry/pods/a") == KeyValue("/registry/pods/a", b"three", third, first)
    async with store.watch("/registry/", after=deleted) as batches:
        assert await take(batches, 1) == [Event("/registry/pods/a", b"three", third, b"two")]


async def test_compacting_backwards_is_a_no_op(store: Store) -> None:
    for number in range(5):
        await store.create(f"/registry/pods/{number}", b"x")
    now = await store.revision()
    await store.compact(now)
    await store.compact(now - 2)
    await store.compact(now)
    assert len((await store.range("/registry/", revision=now)).items) == 5


async def test_the_newest_revision_outlives_compaction(store: Store) -> None:
    created = await store.create("/registry/pods/a", b"one")
    deleted = await store.delete("/registry/pods/a", expected=created)
    await store.compact(deleted)
    assert await store.revision() == deleted
    assert (await store.range("/registry/")).revision == deleted
    assert await store.create("/registry/pods/a", b"two") == deleted + 1


async def test_only_one_of_many_writers_wins(store: Store) -> None:
    created = await store.create("/registry/pods/a", b"start")
    attempts = [store.update("/registry/pods/a", b"%d" % n, expected=created) for n in range(20)]
    outcomes = await asyncio.gather(*attempts, return_exceptions=True)
    winners = [outcome for outcome in outcomes if isinstance(outcome, int)]
    losers = [outcome for outcome in outcomes if isinstance(outcome, Mismatch)]
    assert winners == [created + 1]
    assert len(losers) == 19
    assert all(loser.current and loser.current.revision == created + 1 for loser in losers)


async def test_a_key_with_a_ttl_deletes_itself(store: Store) -> None:
    begin = await store.revision()
    async with store.watch("/registry/events/", after=begin) as batches:
        created = await store.create("/registry/events/e", b"soon gone", ttl_seconds=1)
        events = await take(batches, 2)
    assert events[1] == Event("/registry/events/e", None, created + 1, b"soon gone")
    assert await store.get("/registry/events/e") is None


async def test_an_update_replaces_the_ttl(store: Store) -> None:
    begin = await store.revision()
    async with store.watch("/registry/events/", after=begin) as batches:
        short = await store.create("/registry/events/kept", b"one", ttl_seconds=1)
        await store.update("/registry/events/kept", b"two", expected=short)
        await store.create("/registry/events/marker", b"x", ttl_seconds=2)
        events = await take(batches, 4)
    assert [(event.key, event.value) for event in events[3:]] == [("/registry/events/marker", None)]
    assert await store.get("/registry/events/kept") is not None


async def take(batches: AsyncIterator[Sequence[Event]], count: int) -> list[Event]:
    """The next events, at least this many."""
    events: list[Event] = []
    async with asyncio.timeout(20):
        while len(events) < count:
            events += await anext(batches)
    return events
