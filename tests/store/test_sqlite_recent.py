"""What was read lately: bounded, and never older than the last write."""

from __future__ import annotations

from pathlib import Path

from hardpoint.store.contract import KeyValue
from hardpoint.store.sqlite import SqliteStore
from hardpoint.store.sqlite.recent import Recent


def test_what_was_kept_first_goes_first() -> None:
    recent = Recent(bytes_max=25)
    for name in "abc":
        recent.put(KeyValue(name, b"x" * 10, 1, 1))
    assert [name for name in "abc" if recent.get(name)] == ["b", "c"]
    recent.drop("b")
    recent.put(KeyValue("d", b"x" * 10, 1, 1))
    assert [name for name in "abcd" if recent.get(name)] == ["c", "d"]


def test_what_is_larger_than_all_there_is_room_for_is_not_kept() -> None:
    recent = Recent(bytes_max=5)
    recent.put(KeyValue("a", b"x" * 10, 1, 1))
    assert recent.get("a") is None


async def test_a_value_that_was_read_is_read_again_after_it_changed(tmp_path: Path) -> None:
    store = await SqliteStore.open(tmp_path)
    try:
        created = await store.create("/a", b"1")
        assert (await store.get("/a"), await store.get("/a")) == (KeyValue("/a", b"1", created, created),) * 2
        updated = await store.update("/a", b"2", expected=created)
        assert await store.get("/a") == KeyValue("/a", b"2", updated, created)
        await store.delete("/a", expected=updated)
        assert await store.get("/a") is None
    finally:
        await store.close()
