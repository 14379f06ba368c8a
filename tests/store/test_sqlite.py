"""The SQLite engine's own promises: its directory, its copies, its clock, its patience."""

from __future__ import annotations

import asyncio
import os
import stat
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from hardpoint.machinery.errors import StoreError
from hardpoint.store import feed
from hardpoint.store.contract import Closed, Compacted, Event, Incompatible, KeyValue, Locked
from hardpoint.store.sqlite import SqliteStore, restore
from hardpoint.store.sqlite.backup import REVISIONS_SKIPPED

NOBODY = 65534


async def test_everything_is_there_after_reopening(folder: Path) -> None:
    store = await SqliteStore.open(folder)
    created = await store.create("/a/1", b"one")
    updated = await store.update("/a/1", b"two", expected=created)
    await store.compact(created)
    await store.close()
    store = await SqliteStore.open(folder)
    assert await store.revision() == updated
    assert await store.get("/a/1") == KeyValue("/a/1", b"two", updated, created)
    async with store.watch("/a/", after=created) as batches:
        assert list(await anext(batches)) == [Event("/a/1", b"two", updated, b"one")]
    with pytest.raises(Compacted):
        await store.get("/a/1", revision=created - 1)
    await store.close()


async def test_files_are_private_whatever_the_umask(folder: Path) -> None:
    before = os.umask(0)
    try:
        store = await SqliteStore.open(folder / "deep" / "store")
        await store.create("/a", b"x")
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (folder / "deep" / "store").iterdir()}
        assert modes == {"lock": 0o600, "store.db": 0o600, "store.db-wal": 0o600, "store.db-shm": 0o600}
        assert stat.S_IMODE((folder / "deep" / "store").stat().st_mode) == 0o700
        await store.close()
    finally:
        os.umask(before)


@pytest.mark.parametrize(("name", "mode"), [("", 0o777), ("store.db", 0o644)])
async def test_what_others_could_touch_is_refused(folder: Path, name: str, mode: int) -> None:
    await (await SqliteStore.open(folder / "store")).close()
    (folder / "store" / name).chmod(mode)
    with pytest.raises(StoreError, match=r"by other users \(mode 0.*run: chmod"):
        await SqliteStore.open(folder / "store")


async def test_a_second_opener_is_told_who_is_there(folder: Path) -> None:
    store = await SqliteStore.open(folder, holder="https://127.0.0.1:6443")
    with pytest.raises(Locked, match=rf"in use by process {os.getpid()} \(https://127\.0\.0\.1:6443\)"):
        await SqliteStore.open(folder)
    await store.close()
    await (await SqliteStore.open(folder)).close()


def test_another_process_is_told_too_and_a_crash_frees_the_lock(folder: Path) -> None:
    program = """
import asyncio, sys
from pathlib import Path
from hardpoint.store.sqlite import SqliteStore
async def main():
    store = await SqliteStore.open(Path(sys.argv[1]))
    print("open", flush=True)
    await asyncio.Event().wait()
asyncio.run(main())
"""
    with subprocess.Popen([sys.executable, "-c", program, str(folder)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        with pytest.raises(Locked, match=f"process {process.pid}"):
            asyncio.run(open_and_close(folder))
        process.kill()
    asyncio.run(open_and_close(folder))


async def test_a_newer_format_is_refused(folder: Path) -> None:
    await open_and_close(folder)
    change(folder / "store.db", "PRAGMA user_version = 99")
    with pytest.raises(Incompatible, match=r"written by a newer Hardpoint \(format 99, this one reads 1\)"):
        await SqliteStore.open(folder)


async def test_a_foreign_file_is_refused_and_left_alone(folder: Path) -> None:
    foreign = folder / "store.db"
    change(foreign, "CREATE TABLE theirs (x)")
    foreign.chmod(0o600)
    before = foreign.read_bytes()
    with pytest.raises(Incompatible, match="is not a Hardpoint store"):
        await SqliteStore.open(folder)
    assert foreign.read_bytes() == before
    foreign.write_bytes(b"certainly no database" * 100)
    with pytest.raises(Incompatible, match="is not a Hardpoint store"):
        await SqliteStore.open(folder)


async def test_a_library_that_corrupts_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apsw, "sqlite_lib_version", lambda: "3.51.2")
    with pytest.raises(Incompatible, match=r"SQLite 3\.51\.2 can corrupt a database"):
        await SqliteStore.open(folder)


async def test_a_directory_that_cannot_be_written_is_named(folder: Path) -> None:
    place = folder / "theirs"
    place.mkdir(mode=0o500)
    place.parent.chmod(0o755)
    am_root = os.geteuid() == 0
    if am_root:
        os.seteuid(NOBODY)
    try:
        with pytest.raises(StoreError, match=rf"cannot keep data in {place}.*: Permission denied"):
            await SqliteStore.open(place / "store")
    finally:
        if am_root:
            os.seteuid(0)


async def test_a_backup_is_one_revision_while_writes_go_on(folder: Path) -> None:
    store = await SqliteStore.open(folder / "store")
    for number in range(200):
        await store.create(f"/a/{number:04d}", b"x" * 1000)
    stop = asyncio.Event()

    async def write_on() -> None:
        number = 200
        while not stop.is_set():
            await store.create(f"/a/{number:04d}", b"x" * 1000)
            number += 1

    writing = asyncio.create_task(write_on())
    revision = await store.backup(folder / "copy.db")
    stop.set()
    await writing
    expected = (await store.range("/a/", revision=revision)).items
    await store.close()

    assert stat.S_IMODE((folder / "copy.db").stat().st_mode) == 0o600
    assert sorted(os.listdir(folder)) == ["copy.db", "store"], "one file and nothing beside it"
    copied = folder / "copied"
    copied.mkdir(mode=0o700)
    (folder / "copy.db").rename(copied / "store.db")
    copy = await SqliteStore.open(copied)
    assert await copy.revision() == revision
    assert (await copy.range("/a/")).items == expected
    await copy.close()


async def test_a_backup_never_overwrites(folder: Path) -> None:
    store = await SqliteStore.open(folder / "store")
    (folder / "precious").write_bytes(b"kept")
    with pytest.raises(StoreError, match="never written over another file"):
        await store.backup(folder / "precious")
    with pytest.raises(StoreError, match="cannot write the backup"):
        await store.backup(folder / "nowhere" / "copy.db")
    assert (folder / "precious").read_bytes() == b"kept"
    await store.close()


async def test_a_restored_store_makes_old_watches_list_again(folder: Path) -> None:
    store = await SqliteStore.open(folder / "store")
    created = await store.create("/a/1", b"in the backup")
    backed_up = await store.backup(folder / "copy.db")
    lost = await store.create("/a/2", b"after the backup")
    await store.close()

    await restore(folder / "copy.db", folder / "restored")
    store = await SqliteStore.open(folder / "restored")
    assert await store.get("/a/1") == KeyValue("/a/1", b"in the backup", created, created)
    assert await store.count("") == 1
    assert await store.revision() == backed_up + REVISIONS_SKIPPED
    with pytest.raises(Compacted):
        async with store.watch("/a/", after=lost):
            pass
    again = await store.create("/a/2", b"new")
    await store.compact(again)
    assert await store.count("") == 2
    await store.close()
    with pytest.raises(StoreError, match="already holds a store"):
        await restore(folder / "copy.db", folder / "restored")
    with pytest.raises(StoreError, match="is not a file"):
        await restore(folder / "missing.db", folder / "other")
    (folder / "nonsense.db").write_bytes(b"no database" * 1000)
    with pytest.raises(Incompatible, match=r"nonsense\.db is not a Hardpoint store"):
        await restore(folder / "nonsense.db", folder / "other")


async def test_keys_expire_by_the_wall_clock_across_restarts(folder: Path) -> None:
    now = 1_000_000.0
    store = await SqliteStore.open(folder, clock=lambda: now)
    created = await store.create("/events/short", b"x", ttl_seconds=10)
    await store.create("/events/long", b"x", ttl_seconds=3600)
    await store.create("/events/forever", b"x")
    newest = await store.revision()
    await store.close()
    now += 11
    store = await SqliteStore.open(folder, clock=lambda: now)
    async with store.watch("/events/", after=newest) as batches, asyncio.timeout(10):
        assert list(await anext(batches)) == [Event("/events/short", None, newest + 1, b"x")]
    assert created < newest
    assert [item.key for item in (await store.range("/events/")).items] == ["/events/forever", "/events/long"]
    await store.close()


async def test_a_consumer_that_lags_gets_everything_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feed, "EVENTS_MAX", 10)
    store = await SqliteStore.open(folder)
    begin = await store.revision()
    async with store.watch("/a/", after=begin) as batches, asyncio.timeout(20):
        for number in range(100):
            await store.create(f"/a/{number}", b"x")
            await store.create(f"/b/{number}", b"elsewhere")
        seen: list[str] = []
        while len(seen) < 100:
            seen += [event.key for event in await anext(batches)]
        assert seen == [f"/a/{number}" for number in range(100)]
        await store.create("/a/live", b"x")
        assert [event.key for event in await anext(batches)] == ["/a/live"]
    await store.close()


async def test_a_large_range_is_one_revision_and_lets_the_loop_run(folder: Path) -> None:
    store = await SqliteStore.open(folder)
    await asyncio.gather(*(store.create(f"/a/{number:05d}", b"x" * 1000) for number in range(5000)))
    reading = asyncio.create_task(store.range("/a/"))
    writes = 0
    while not reading.done():
        await store.create(f"/a/{writes:05d}-later", b"x")
        writes += 1
    page = await reading
    assert writes > 1, "the loop ran while the range was read"
    assert await store.revision() > page.revision
    assert page.items == (await store.range("/a/", revision=page.revision)).items
    await store.close()


async def test_a_cancelled_write_does_not_block_its_key(folder: Path) -> None:
    store = await SqliteStore.open(folder)
    writing = asyncio.create_task(store.create("/a", b"x"))
    await asyncio.sleep(0)
    writing.cancel()
    found = None
    async with asyncio.timeout(10):
        while found is None:
            await asyncio.sleep(0)
            found = await store.get("/a")
    await store.delete("/a", expected=found.revision)
    assert await store.create("/a", b"y") == found.revision + 2
    await store.close()


async def test_a_closed_store_says_so(folder: Path) -> None:
    store = await SqliteStore.open(folder)
    pending = asyncio.create_task(store.create("/a", b"submitted before closing"))
    async with store.watch("/a", after=1) as batches:
        await asyncio.sleep(0)
        await store.close()
        assert await pending == 2
        assert [event.revision for event in await anext(batches)] == [2]
        with pytest.raises(Closed):
            await anext(batches)
    for act in (store.get("/a"), store.create("/b", b""), store.range(""), store.revision(), store.compact(2)):
        with pytest.raises(Closed):
            await act
    await store.close()


async def test_closing_in_the_middle_of_a_compaction_ends_both(folder: Path) -> None:
    store = await SqliteStore.open(folder)
    revision = await store.create("/a", b"x")
    for _ in range(2000):
        revision = await store.update("/a", b"x", expected=revision)
    compacting = asyncio.create_task(store.compact(revision))
    await asyncio.sleep(0)
    async with asyncio.timeout(10):
        await store.close()
        with pytest.raises(Closed):
            await compacting
    store = await SqliteStore.open(folder)
    await store.compact(revision)
    assert (await store.range("")).items == [KeyValue("/a", b"x", revision, 2)]
    with pytest.raises(Compacted):
        await store.get("/a", revision=revision - 1)
    await store.close()


async def test_compaction_gives_space_back(folder: Path) -> None:
    store = await SqliteStore.open(folder)
    revision = await store.create("/a", b"x" * 10_000)
    for _ in range(1000):
        revision = await store.update("/a", b"x" * 10_000, expected=revision)
    await store.compact(revision)
    assert await store.get("/a") is not None
    await store.close()
    assert (folder / "store.db").stat().st_size < 6_000_000, "ten megabytes were written and most are forgotten"


async def open_and_close(directory: Path) -> None:
    await (await SqliteStore.open(directory)).close()


def change(database: Path, statement: str) -> None:
    connection = apsw.Connection(str(database))
    connection.execute(statement)
    connection.close()
