"""The log's files: whole lines, private, put aside before they grow too large, and not kept forever."""

from __future__ import annotations

import gzip
import os
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardpoint.apiserver.audit import rotation
from hardpoint.apiserver.audit.rotation import Keeping, RotatingFile


class Clock:
    def __init__(self) -> None:
        self.now = datetime(2026, 1, 2, 3, 4, 5, 678_000, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(milliseconds=1)
        return self.now


@pytest.fixture(autouse=True)
def _small_megabytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rotation, "MEGABYTE", 100)


def files_of(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_lines_are_added_to_what_is_there(tmp_path: Path) -> None:
    for _ in range(2):
        log = RotatingFile(tmp_path / "audit" / "audit.log", Keeping())
        log.write([b"a\n", b"b\n"])
        log.close()
    assert (tmp_path / "audit" / "audit.log").read_bytes() == b"a\nb\na\nb\n"


def test_files_are_the_owners_alone(tmp_path: Path) -> None:
    log = RotatingFile(tmp_path / "audit" / "audit.log", Keeping(size_megabytes_max=1), Clock())
    log.write([b"x" * 60 + b"\n"] * 3)
    log.close()
    assert {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "audit").iterdir()} == {0o600}
    assert stat.S_IMODE((tmp_path / "audit").stat().st_mode) == 0o700


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "audit.log").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="symbolic links"):
        RotatingFile(tmp_path / "audit.log", Keeping())


def test_a_full_file_is_put_aside_under_its_time(tmp_path: Path) -> None:
    log = RotatingFile(tmp_path / "audit.log", Keeping(size_megabytes_max=1), Clock())
    log.write([b"1" * 59 + b"\n", b"2" * 59 + b"\n"])
    log.close()
    assert files_of(tmp_path) == ["audit-2026-01-02T03-04-05.679.log", "audit.log"]
    assert (tmp_path / "audit.log").read_bytes() == b"2" * 59 + b"\n"


def test_only_the_newest_are_kept_and_no_strangers_are_touched(tmp_path: Path) -> None:
    (tmp_path / "audit-notes.log").write_text("mine")
    log = RotatingFile(tmp_path / "audit.log", Keeping(size_megabytes_max=1, backups_max=2), Clock())
    log.write([b"%d" % number * 99 + b"\n" for number in range(6)])
    log.close()
    backups = [name for name in files_of(tmp_path) if name.startswith("audit-2026")]
    assert [(tmp_path / name).read_bytes()[:1] for name in backups] == [b"3", b"4"]
    assert (tmp_path / "audit-notes.log").read_text() == "mine"


def test_what_is_too_old_goes(tmp_path: Path) -> None:
    clock = Clock()
    log = RotatingFile(tmp_path / "audit.log", Keeping(size_megabytes_max=1, age_days_max=2), clock)
    log.write([b"1" * 99 + b"\n", b"2" * 99 + b"\n"])
    clock.now += timedelta(days=3)
    log.write([b"3" * 99 + b"\n"])
    log.close()
    backups = [name for name in files_of(tmp_path) if name != "audit.log"]
    assert [(tmp_path / name).read_bytes()[:1] for name in backups] == [b"2"]


def test_old_files_can_be_compressed(tmp_path: Path) -> None:
    log = RotatingFile(tmp_path / "audit.log", Keeping(size_megabytes_max=1, compress=True), Clock())
    log.write([b"1" * 99 + b"\n", b"2" * 99 + b"\n"])
    log.close()
    packed = tmp_path / "audit-2026-01-02T03-04-05.679.log.gz"
    assert gzip.decompress(packed.read_bytes()) == b"1" * 99 + b"\n"
    assert files_of(tmp_path) == [packed.name, "audit.log"]


def test_a_line_cut_off_by_a_full_disk_is_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = RotatingFile(tmp_path / "audit.log", Keeping())
    log.write([b"whole\n"])
    write, calls = os.write, []

    def full(file: int, data: bytes) -> int:
        calls.append(1)
        if len(calls) > 1:
            raise OSError(28, "No space left on device")
        return write(file, bytes(data)[:3])

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", full)
        with pytest.raises(OSError, match="No space left"):
            log.write([b"never\n"])
    log.write([b"again\n"])
    log.close()
    assert (tmp_path / "audit.log").read_bytes() == b"whole\nagain\n"


@settings(deadline=None)
@given(st.lists(st.lists(st.integers(1, 150), max_size=5), max_size=10))
def test_no_line_is_lost_or_torn_and_no_file_too_large(
    tmp_path_factory: pytest.TempPathFactory, writes: list[list[int]]
) -> None:
    folder = tmp_path_factory.mktemp("log")
    log = RotatingFile(folder / "audit.log", Keeping(size_megabytes_max=1, backups_max=0), Clock())
    lines = [[b"x" * (size - 1) + b"\n" for size in sizes] for sizes in writes]
    for batch in lines:
        log.write(batch)
    log.close()
    texts = [(folder / name).read_bytes() for name in files_of(folder)]
    assert b"".join(texts) == b"".join(line for batch in lines for line in batch)
    assert all(len(text) <= 100 or text.count(b"\n") == 1 for text in texts)
