"""Disks that fail, fill up or forget: what was acknowledged stays, what cannot be promised is not."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from hardpoint.machinery.errors import StoreError
from hardpoint.store import failpoints
from hardpoint.store.contract import Broken, Corrupt, Full
from hardpoint.store.sqlite import SqliteStore, writer
from tests.store.faults import faulty_disk

VALUE = b"x" * 1000


@pytest.mark.parametrize("failing", range(1, 30, 3))
async def test_after_a_failed_sync_nothing_is_acknowledged(folder: Path, failing: int) -> None:
    with faulty_disk(f"sync-{failing}") as disk:
        store = await SqliteStore.open(folder / "store", vfs=disk.name)
        disk.failing_sync = disk.syncs + failing
        acknowledged = await write_until_broken(store)
        for number in range(3):
            with pytest.raises(Broken, match="may or may not have happened"):
                await store.create(f"/later/{number}", VALUE)
        assert len((await store.range("/a/")).items) >= len(acknowledged), "reads go on"
        await store.close()
        await expect_present(folder / "store", acknowledged)


async def write_until_broken(store: SqliteStore) -> dict[str, int]:
    acknowledged: dict[str, int] = {}
    for number in range(60):
        try:
            acknowledged[f"/a/{number}"] = await store.create(f"/a/{number}", VALUE)
        except Broken:
            return acknowledged
    raise AssertionError("no sync failed")


async def test_a_watch_ends_when_the_store_breaks(folder: Path) -> None:
    store = await SqliteStore.open(folder / "store")
    async with store.watch("/a/", after=1) as batches:
        with failpoints.armed("store.before_commit=error"), pytest.raises(Broken):
            await store.create("/a/1", VALUE)
        with pytest.raises(Broken):
            await anext(batches)
    await store.close()


async def test_a_full_disk_stops_writes_and_nothing_else(folder: Path) -> None:
    with faulty_disk("full") as disk:
        store = await SqliteStore.open(folder / "store", vfs=disk.name)
        acknowledged = {"/a/0": await store.create("/a/0", VALUE)}
        async with store.watch("/a/", after=1) as batches:
            disk.is_full = True
            attempts = [store.create(f"/full/{number}", VALUE) for number in range(100)]
            outcomes = await asyncio.gather(*attempts, return_exceptions=True)
            assert all(isinstance(outcome, Full) for outcome in outcomes)
            assert await store.get("/a/0") is not None
            assert (await anext(batches))[0].key == "/a/0"
            disk.is_full = False
            acknowledged["/a/1"] = await store.create("/a/1", VALUE)
            assert acknowledged["/a/1"] == acknowledged["/a/0"] + 1, "a write that failed takes no revision"
            assert (await anext(batches))[0].key == "/a/1"
        await store.close()
        await expect_present(folder / "store", acknowledged)


POINTS = [
    "store.before_commit",
    "store.after_commit",
    "store.before_publish",
    "store.before_floor",
    "store.before_sweep",
]


@pytest.mark.parametrize("point", POINTS)
async def test_a_failure_around_a_commit_or_a_sweep_breaks_the_store(folder: Path, point: str) -> None:
    store = await SqliteStore.open(folder / "store")
    created = await store.create("/a/1", VALUE)
    is_compaction = point in ("store.before_floor", "store.before_sweep")
    act = store.compact(created) if is_compaction else store.update("/a/1", b"new", expected=created)
    with failpoints.armed(f"{point}=error"), pytest.raises(Broken):
        await act
    with pytest.raises(Broken):
        await store.create("/a/2", VALUE)
    await store.close()
    store = await SqliteStore.open(folder / "store")
    assert await store.get("/a/1") is not None
    await store.create("/a/2", VALUE)
    await store.close()


CRASHING = """
import asyncio, sys
from pathlib import Path
from hardpoint.store.sqlite import SqliteStore

async def write(store, worker):
    for number in range(10**9):
        key = f"/w{worker}/{number % 20}"
        value = f"{sys.argv[2]:0>4}-{number:08d}{'x' * 100}".encode()
        found = await store.get(key)
        if found and number % 7 == 3:
            await store.delete(key, expected=found.revision)
            report(key, "")
        elif found:
            await store.update(key, value, expected=found.revision)
            report(key, value.decode())
        else:
            await store.create(key, value)
            report(key, value.decode())

async def compact(store):
    while True:
        await store.compact(await store.revision())
        await asyncio.sleep(0.005)

def report(key, value):
    sys.stdout.write(f"{key} {value}\\n")
    sys.stdout.flush()

async def main():
    store = await SqliteStore.open(Path(sys.argv[1]))
    print("open", flush=True)
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(compact(store))
        for worker in range(8):
            tasks.create_task(write(store, worker))

asyncio.run(main())
"""


@pytest.mark.parametrize("points", ["", "store.after_commit=panic:0.02;store.after_sweep=panic:0.01"])
async def test_what_was_acknowledged_survives_a_crash(folder: Path, points: str) -> None:
    dice = random.Random(points)
    newest = 1
    known: dict[str, str] = {}
    for run in range(10):
        lines = await asyncio.to_thread(run_and_kill, folder / "store", run, points, dice.randrange(1, 200))
        for line in lines:
            if line.endswith(b"\n"):
                key, _, value = line.decode().rstrip("\n").partition(" ")
                known[key] = value
        newest = await expect_known(folder / "store", known, newest)


def run_and_kill(directory: Path, run: int, points: str, reports: int) -> list[bytes]:
    """What a writing process reported before it was killed, at the latest after so many reports."""
    process = subprocess.Popen(
        [sys.executable, "-c", CRASHING, str(directory), str(run)],
        stdout=subprocess.PIPE,
        env={**os.environ, failpoints.VARIABLE: points},
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"open\n"
    lines = [process.stdout.readline() for _ in range(reports)]
    process.send_signal(signal.SIGKILL)
    lines += process.stdout.read().splitlines(keepends=True)
    process.stdout.close()
    process.wait()
    return lines


async def expect_known(directory: Path, known: dict[str, str], newest: int) -> int:
    """Check what was acknowledged; each of the 8 writers may have been one write ahead of its last report."""
    store = await SqliteStore.open(directory)
    found = {item.key: item.value.decode() for item in (await store.range("")).items}
    ahead: dict[str, set[str]] = {}
    for key in known.keys() | found.keys():
        if known.get(key, "") != found.get(key, ""):
            ahead.setdefault(key.split("/")[1], set()).add(key)
    assert all(len(keys) == 1 for keys in ahead.values()), f"lost writes: {ahead}"
    for keys in ahead.values():
        for key in keys:
            # Values begin with the number of their run and their write, so that later ones compare as greater.
            assert not found.get(key) or found[key] > known.get(key, ""), f"{key} went back"
            known[key] = found.get(key, "")
    revision = await store.revision()
    assert revision >= newest, "revisions never go back"
    await store.close()
    assert integrity(directory) == "ok"
    return revision


def integrity(directory: Path) -> str:
    connection = apsw.Connection(str(directory / "store.db"))
    [(outcome,)] = connection.execute("PRAGMA integrity_check").fetchall()
    connection.close()
    return str(outcome)


async def test_every_flipped_bit_in_a_value_is_noticed(folder: Path) -> None:
    store = await SqliteStore.open(folder / "store")
    marker = b"0123456789abcdef" * 40
    await store.create("/a/good", b"untouched")
    await store.create("/a/marked", marker)
    await store.close()
    database = folder / "store" / "store.db"
    pristine = database.read_bytes()
    begin = pristine.index(marker)
    dice = random.Random(1)
    for _ in range(40):
        damaged = bytearray(pristine)
        damaged[begin + dice.randrange(len(marker))] ^= 1 << dice.randrange(8)
        database.write_bytes(damaged)
        store = await SqliteStore.open(folder / "store")
        with pytest.raises(Corrupt, match="/a/marked"):
            await store.get("/a/marked")
        with pytest.raises(Corrupt, match="/a/marked"):
            await store.range("/a/")
        with pytest.raises(Corrupt, match="/a/marked"):
            async with store.watch("/a/", after=1) as batches:
                await anext(batches)
        good = await store.get("/a/good")
        assert good is not None, "the others are served"
        await store.close()


async def test_no_flipped_bit_anywhere_gives_wrong_data(folder: Path) -> None:
    store = await SqliteStore.open(folder / "store")
    written = {f"/a/{number}": bytes([number]) * 300 for number in range(40)}
    for key, value in written.items():
        await store.create(key, value)
    await store.close()
    database = folder / "store" / "store.db"
    pristine = database.read_bytes()
    dice = random.Random(2)
    for _ in range(150):
        damaged = bytearray(pristine)
        damaged[dice.randrange(len(damaged))] ^= 1 << dice.randrange(8)
        database.write_bytes(damaged)
        await expect_right_or_refused(folder / "store", written)


async def expect_right_or_refused(directory: Path, written: dict[str, bytes]) -> None:
    try:
        store = await SqliteStore.open(directory)
    except StoreError:
        return
    for key, value in written.items():
        try:
            found = await store.get(key)
        except StoreError:
            continue
        assert found is None or found.value == value
    await store.close()


async def test_a_large_group_is_one_transaction(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "_ROWS_MAX", 4)
    store = await SqliteStore.open(folder / "store")
    revisions = await asyncio.gather(*(store.create(f"/a/{number}", VALUE) for number in range(30)))
    assert sorted(revisions) == list(range(2, 32))
    await store.close()
    await expect_present(folder / "store", {f"/a/{number}": revision for number, revision in enumerate(revisions)})


async def expect_present(directory: Path, acknowledged: dict[str, int]) -> None:
    store = await SqliteStore.open(directory)
    for key, revision in acknowledged.items():
        found = await store.get(key)
        assert found is not None, f"{key} was acknowledged and is gone"
        assert found.revision == revision
    await store.close()
