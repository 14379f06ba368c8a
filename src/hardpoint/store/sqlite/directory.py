"""The data directory: who may read it, who holds it, and that its entries survive a power cut.

The directory is private to its owner and held by one process at a time, through a lock that the kernel releases when
the process ends, however it ends.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from hardpoint.machinery.errors import StoreError
from hardpoint.store.contract import Locked

DATABASE = "store.db"
LOCK = "lock"

_PRIVATE_DIRECTORY, _PRIVATE_FILE = 0o700, 0o600


class DataDirectory:
    """A directory this process holds until `release`."""

    def __init__(self, path: Path, *, holder: str = "") -> None:
        """Create, check and lock it. Raises Locked, or StoreError that says why the directory cannot be used."""
        self.path = path
        self.database = path / DATABASE
        try:
            self._prepare()
            self._lock = self._hold(holder)
        except OSError as cause:
            raise StoreError(f"cannot keep data in {path}: {cause.strerror}; choose a directory you own") from cause

    def release(self) -> None:
        """Let the next process in. Idempotent."""
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def _prepare(self) -> None:
        missing = [folder for folder in (self.path, *self.path.parents) if not folder.exists()]
        for folder in reversed(missing):
            folder.mkdir(_PRIVATE_DIRECTORY)
            folder.chmod(_PRIVATE_DIRECTORY)
            sync_directory(folder.parent)
        _refuse_if_open(self.path, 0o022, "written")
        for file in self.path.glob(f"{DATABASE}*"):
            _refuse_if_open(file, 0o077, "read")

    def _hold(self, holder: str) -> int:
        lock = _open_private(self.path / LOCK)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.ftruncate(lock, 0)
            os.pwrite(lock, f"{os.getpid()}\n{holder}\n".encode(), 0)
            os.close(_open_private(self.database))
            sync_directory(self.path)
        except BlockingIOError:
            pid, _, name = os.pread(lock, 4096, 0).decode(errors="replace").strip().partition("\n")
            os.close(lock)
            who = f"process {pid or '(not named yet)'}" + (f" ({name})" if name else "")
            raise Locked(f"{self.path} is in use by {who}; stop it or choose another data directory") from None
        except BaseException:
            os.close(lock)
            raise
        return lock


def sync_directory(path: Path) -> None:
    """Make names created in this directory survive a power cut."""
    directory = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


def _open_private(path: Path) -> int:
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, _PRIVATE_FILE)
    os.fchmod(file, _PRIVATE_FILE)
    return file


def _refuse_if_open(path: Path, bits: int, verb: str) -> None:
    mode = path.stat().st_mode & 0o7777
    if mode & bits:
        wanted = _PRIVATE_DIRECTORY if path.is_dir() else _PRIVATE_FILE
        raise StoreError(f"{path} can be {verb} by other users (mode {mode:04o}); run: chmod {wanted:o} {path}")
