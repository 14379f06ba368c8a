"""A disk that fails on purpose: an SQLite VFS over the real one, whose syncs fail and whose files stop growing."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import apsw


class Disk:
    """What goes wrong, and when. Syncs are counted from 1."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.syncs = 0
        self.failing_sync = 0
        self.is_full = False


class FaultyFile(apsw.VFSFile):
    def __init__(self, disk: Disk, filename: Any, flags: list[int]) -> None:
        super().__init__("", filename, flags)
        self._disk = disk

    def xSync(self, flags: int) -> None:
        self._disk.syncs += 1
        if self._disk.syncs == self._disk.failing_sync:
            raise apsw.IOError(f"[Errno {errno.EIO}] Input/output error")
        super().xSync(flags)

    def xWrite(self, data: bytes, offset: int) -> None:
        if self._disk.is_full and offset + len(data) > self.xFileSize():
            raise apsw.FullError("No space left on device")
        super().xWrite(data, offset)


class FaultyVfs(apsw.VFS):
    def __init__(self, disk: Disk) -> None:
        self._disk = disk
        super().__init__(disk.name, "")

    def xOpen(self, name: Any, flags: list[int]) -> FaultyFile:
        return FaultyFile(self._disk, name, flags)


@contextmanager
def faulty_disk(name: str) -> Iterator[Disk]:
    """A disk to open a store on with `vfs=disk.name`."""
    disk = Disk(name)
    vfs = FaultyVfs(disk)
    try:
        yield disk
    finally:
        vfs.unregister()
