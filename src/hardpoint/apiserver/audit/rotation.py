"""A file that lines are added to, which makes room for a new one before it grows too large.

Old files keep the name with a time in it: `audit.log` becomes `audit-2026-01-02T03-04-05.678.log`, as kube-apiserver
names them. Files belong to their owner alone. A line is in a file whole or not at all: what a full disk cut off is
taken back.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Thread
from typing import NamedTuple

log = logging.getLogger(__name__)

MEGABYTE = 1024 * 1024
_STAMP = "%Y-%m-%dT%H-%M-%S.%f"


class Keeping(NamedTuple):
    """How much is kept; 0 is without limit."""

    size_megabytes_max: int = 100
    backups_max: int = 100
    age_days_max: int = 366
    compress: bool = False


def _utc_now() -> datetime:
    return datetime.now(UTC)


class RotatingFile:
    """Takes lines. It is used by one thread at a time."""

    def __init__(self, path: Path, keeping: Keeping, now: Callable[[], datetime] = _utc_now) -> None:
        """Raises OSError if the file cannot be opened."""
        self._path = path
        self._keeping = keeping
        self._now = now
        self._size_max = keeping.size_megabytes_max * MEGABYTE
        self._tidying: Thread | None = None
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._open()

    def write(self, lines: Sequence[bytes]) -> None:
        """Add lines, each with its end. Raises OSError, having added some of them whole, and none in part."""
        begin, size = 0, self._size
        for number, line in enumerate(lines):
            if self._size_max and size and size + len(line) > self._size_max:
                self._append(lines[begin:number])
                self._rotate()
                begin, size = number, 0
            size += len(line)
        self._append(lines[begin:])

    def close(self) -> None:
        """Close, when what was put aside is as it should be."""
        os.close(self._file)
        self._wait_until_tidy()

    def _open(self) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
        self._file = os.open(self._path, flags, 0o600)
        self._size = os.fstat(self._file).st_size

    def _append(self, lines: Sequence[bytes]) -> None:
        waiting = memoryview(b"".join(lines))
        whole = self._size
        try:
            while waiting:
                waiting = waiting[os.write(self._file, waiting) :]
        except OSError:
            os.ftruncate(self._file, whole)
            raise
        self._size = whole + sum(map(len, lines))

    def _rotate(self) -> None:
        stem, ending = self._path.stem, self._path.suffix
        stamp = self._now().strftime(_STAMP)[:-3]
        backup = self._path.with_name(f"{stem}-{stamp}{ending}")
        os.rename(self._path, backup)
        os.close(self._file)
        self._open()
        self._wait_until_tidy()
        # Nobody who writes a line waits for a hundred megabytes to be compressed.
        self._tidying = Thread(target=self._tidy, args=(backup,), name="audit log")
        self._tidying.start()

    def _wait_until_tidy(self) -> None:
        if self._tidying is not None:
            self._tidying.join()

    def _tidy(self, backup: Path) -> None:
        try:
            if self._keeping.compress:
                _compress(backup)
            self._forget()
        except OSError as failure:
            log.warning("old audit logs not tidied", extra={"file": str(backup), "reason": failure.strerror})

    def _forget(self) -> None:
        """Remove what is too old or too much."""
        kept = 0
        oldest = self._now() - timedelta(days=self._keeping.age_days_max)
        for made, backup in sorted(self._backups(), reverse=True):
            is_too_many = self._keeping.backups_max and kept >= self._keeping.backups_max
            is_too_old = self._keeping.age_days_max and made < oldest
            if is_too_many or is_too_old:
                backup.unlink(missing_ok=True)
            else:
                kept += 1

    def _backups(self) -> list[tuple[datetime, Path]]:
        prefix, ending = f"{self._path.stem}-", self._path.suffix
        found = []
        for path in self._path.parent.iterdir():
            if not path.name.startswith(prefix):
                continue
            stamp = path.name.removeprefix(prefix).removesuffix(".gz").removesuffix(ending)
            try:
                found.append((datetime.strptime(stamp, _STAMP).replace(tzinfo=UTC), path))
            except ValueError:
                continue  # Somebody else's file.
        return found


def _compress(file: Path) -> None:
    import gzip  # Few compress their logs: start-up does not wait for it.
    import shutil

    packed = file.with_name(f"{file.name}.gz")
    fresh = os.open(packed, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with file.open("rb") as source, open(fresh, "wb") as raw, gzip.open(raw, "wb") as target:
        shutil.copyfileobj(source, target)
    file.unlink()
