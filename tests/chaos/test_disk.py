"""The disk is full, read-only, damaged or somebody else's: one sentence says so, and what can be served is."""

from __future__ import annotations

import asyncio
import os
import random
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import apsw
import pytest

from tests.chaos.process import Refused, Server, running
from tests.chaos.wire import Answer, Json, Wire
from tests.chaos.workload import MAPS

SMALL, LARGE = "8m", "32m"
FILLING_BYTES = 200_000
PAGE_BYTES = 4096
DATABASE = Path("store") / "store.db"


def one_sentence(words: str) -> str:
    """What a command said, which must be a line for people to read."""
    lines = [line for line in words.splitlines() if line]
    assert len(lines) == 1, words
    assert lines[0].startswith("hardpoint: ")
    assert "Traceback" not in words
    return lines[0]


def config_map(name: str, value: str = "") -> Json:
    return {"metadata": {"name": name}, "data": {"value": value}}


async def ask(server: Server, method: str, path: str, body: Json | bytes = b"") -> Answer:
    wire = await Wire.open(server)
    try:
        return await wire.ask(method, path, body)
    finally:
        wire.cut()


async def stopped_with_objects(server: Server, count: int = 40) -> None:
    """Give the server a past, and stop it in good order."""
    await server.start()
    wire = await Wire.open(server)
    for number in range(count):
        made = await wire.ask("POST", MAPS, config_map(f"map-{number:03}", f"value {number} " * 100))
        assert made.status == 201
    wire.cut()
    assert await server.stop() == 0


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system that is soon full."""
    place = tmp_path / "disk"
    place.mkdir()
    mounting = ["mount", "-t", "tmpfs", "-o", f"size={SMALL},mode=700", "tmpfs", str(place)]
    if os.geteuid() != 0 or subprocess.run(mounting, capture_output=True, check=False).returncode != 0:
        pytest.skip("a small file system can only be mounted by root, with the capability to do so")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


def remount(place: Path, option: str) -> bool:
    """Change a mounted file system; whether the kernel allowed it."""
    return subprocess.run(["mount", "-o", f"remount,{option}", str(place)], check=False).returncode == 0


async def test_a_full_disk_refuses_writes_and_nothing_else(small_disk: Path, tmp_path: Path) -> None:
    server = Server(tmp_path, data=small_disk / "data")
    async with running(server):
        wire = await Wire.open(server)
        kept = await fill(wire)
        assert kept, "the disk was full from the start"
        listed = await wire.ask("GET", MAPS)
        assert {item["metadata"]["name"] for item in listed.json()["items"]} >= kept
        assert (await wire.ask("GET", f"{MAPS}/fill-0")).status == 200
        # What was asked cannot be written down either, and the audit log says so.
        assert (await wire.ask("GET", "/readyz?exclude=audit-log")).status == 200
        remount(small_disk, f"size={LARGE}")
        assert (await wire.ask("POST", MAPS, config_map("after"))).status == 201, "it recovers without a restart"
        wire.cut()
        await server.kill()
        await server.start()
        names = {item["metadata"]["name"] for item in (await ask(server, "GET", MAPS)).json()["items"]}
        assert names >= kept | {"after"}


async def test_deletes_make_room_on_a_full_disk(small_disk: Path, tmp_path: Path) -> None:
    """The log has to grow before the database can shrink, so some room is needed: what a small file took."""
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(1 << 20))
    async with running(Server(tmp_path, data=small_disk / "data")) as server:
        wire = await Wire.open(server)
        kept = await fill(wire)
        ballast.unlink()
        for name in sorted(kept):
            assert (await wire.ask("DELETE", f"{MAPS}/{name}")).status == 200
        assert (await wire.ask("POST", MAPS, config_map("after"))).status == 201
        wire.cut()


async def fill(wire: Wire) -> set[str]:
    """Write until the disk is full; returns the names of what was acknowledged."""
    kept: set[str] = set()
    for number in range(200):
        answer = await wire.ask("POST", MAPS, config_map(f"fill-{number}", "x" * FILLING_BYTES))
        if answer.status != 201:
            refused = answer.json()
            assert answer.status == 507, refused
            assert refused["kind"] == "Status"
            assert refused["message"].startswith("the store has no space left: "), refused
            return kept
        kept.add(f"fill-{number}")
    raise AssertionError("the disk did not become full")


async def test_starting_on_a_full_disk(small_disk: Path, tmp_path: Path) -> None:
    (small_disk / "ballast").write_bytes(bytes(8 << 20))
    server = Server(tmp_path, data=small_disk / "data")
    with pytest.raises(Refused) as refused:
        await server.start()
    assert re.search(r"[Nn]o space left|full", one_sentence(refused.value.words))


async def test_a_read_only_disk(small_disk: Path, tmp_path: Path) -> None:
    server = Server(tmp_path, data=small_disk / "data")
    await stopped_with_objects(server, 3)
    assert remount(small_disk, "ro")
    with pytest.raises(Refused) as refused:
        await server.start()
    assert "Read-only file system" in one_sentence(refused.value.words)
    assert str(server.data) in refused.value.words


async def test_a_file_in_place_of_the_directory(tmp_path: Path) -> None:
    server = Server(tmp_path)
    server.data.write_text("mine")
    with pytest.raises(Refused) as refused:
        await server.start()
    assert str(server.data) in one_sentence(refused.value.words)


async def test_a_newer_format(tmp_path: Path) -> None:
    server = Server(tmp_path)
    await stopped_with_objects(server, 1)
    with apsw.Connection(str(server.data / DATABASE)) as database:
        database.pragma("user_version", 99)
    with pytest.raises(Refused) as refused:
        await server.start()
    assert "newer Hardpoint (format 99" in one_sentence(refused.value.words)


async def test_a_store_held_by_another_process(tmp_path: Path) -> None:
    async with running(Server(tmp_path)) as server:
        (tmp_path / "second").mkdir()
        second = Server(tmp_path / "second", data=server.data)
        with pytest.raises(Refused) as refused:
            await second.start()
        assert f"process {server.pid}" in one_sentence(refused.value.words)
        assert (await ask(server, "GET", "/readyz")).status == 200


@pytest.mark.parametrize("held", ["EXCLUSIVE", "IMMEDIATE"])
async def test_a_database_that_another_program_has_open(held: str, tmp_path: Path) -> None:
    """Somebody looks into the file with a tool of their own: they cost time, not the cluster."""
    async with running(Server(tmp_path)) as server:
        other = apsw.Connection(str(server.data / DATABASE))
        other.execute(f"BEGIN {held}")
        try:
            assert (await ask(server, "GET", MAPS)).status == 200
        finally:
            other.execute("ROLLBACK")
            other.close()


async def test_a_flipped_bit_in_an_object(tmp_path: Path) -> None:
    server = Server(tmp_path)
    await stopped_with_objects(server)
    database = server.data / DATABASE
    content = bytearray(database.read_bytes())
    at = content.index(b"value 7 value 7")
    content[at] ^= 1
    database.write_bytes(content)
    async with running(server):
        answer = await ask(server, "GET", f"{MAPS}/map-007")
        assert answer.status == 500
        assert answer.json()["reason"] == "StoreReadError"
        assert "/registry/" in answer.json()["message"]
        assert "map-007" in answer.json()["message"]
        assert "fails its checksum" in answer.json()["message"]
        assert (await ask(server, "GET", f"{MAPS}/map-008")).status == 200
        assert (await ask(server, "POST", MAPS, config_map("another"))).status == 201
        listed = await ask(server, "GET", MAPS)
        assert listed.status == 500, "a list must not leave an object out"
        assert "map-007" in listed.json()["message"]
        wire = await Wire.open(server)
        [told] = [event async for event in wire.watch(f"{MAPS}?watch=1")]
        assert (told["type"], told["object"]["reason"]) == ("ERROR", "StoreReadError")
        wire.cut()


def flip_bits(content: bytearray, chance: random.Random) -> None:
    for _ in range(chance.choice((1, 1, 8, 64))):
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)


def scribble(content: bytearray, chance: random.Random) -> None:
    _overwrite_a_page(content, chance, chance.randbytes(PAGE_BYTES))


def zero(content: bytearray, chance: random.Random) -> None:
    _overwrite_a_page(content, chance, bytes(PAGE_BYTES))


def cut_short(content: bytearray, chance: random.Random) -> None:
    del content[chance.randrange(len(content)) :]


def _overwrite_a_page(content: bytearray, chance: random.Random, page: bytes) -> None:
    at = chance.randrange(len(content) // PAGE_BYTES) * PAGE_BYTES
    content[at : at + PAGE_BYTES] = page


@pytest.mark.timeout(600)
@pytest.mark.parametrize("harm", [flip_bits, scribble, zero, cut_short], ids=lambda harm: harm.__name__)
async def test_damage_anywhere_is_noticed_or_harmless(
    harm: Callable[[bytearray, random.Random], None], tmp_path: Path, chance: random.Random, is_long: bool
) -> None:
    """No wrong data and no traceback, whatever the damage; a refusal to start is a sentence."""
    server = Server(tmp_path)
    await stopped_with_objects(server)
    database = server.data / DATABASE
    whole = database.read_bytes()
    outcomes = {"refused": 0, "noticed": 0, "unharmed": 0}
    for _ in range(100 if is_long else 5):
        content = bytearray(whole)
        harm(content, chance)
        for stale in database.parent.glob("store.db-*"):
            stale.unlink()
        database.write_bytes(content)
        outcomes[await life_with_damage(server)] += 1
    print(outcomes)


async def life_with_damage(server: Server) -> str:
    try:
        await server.start()
    except Refused as refused:
        one_sentence(refused.words)
        return "refused"
    try:
        statuses = set()
        wire = await Wire.open(server)
        for number in range(40):
            answer = await wire.ask("GET", f"{MAPS}/map-{number:03}")
            statuses.add(answer.status)
            assert answer.status != 200 or answer.json()["data"] == {"value": f"value {number} " * 100}
            assert answer.json()["kind"] in ("ConfigMap", "Status")
        statuses.add((await wire.ask("GET", MAPS)).status)
        statuses.add((await wire.ask("POST", MAPS, config_map("new"))).status)
        wire.cut()
    except (OSError, asyncio.IncompleteReadError):
        # It may give up, as long as it says why.
        assert await server.ended() == 1
        assert "Traceback" not in server.words(), server.words()
        return "noticed"
    finally:
        await server.kill()
    assert "Traceback" not in server.words(), server.words()
    return "unharmed" if statuses == {200, 201} else "noticed"
