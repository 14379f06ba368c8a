"""Changing a file that others read and change too: one writer at a time, in one step, durably.

The lock is the file `<name>.lock` beside it, which kubectl takes as well.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hardpoint.machinery.errors import ConfigError

LOCK_PATIENCE_SECONDS = 2.0


@contextmanager
def locked(path: Path) -> Iterator[Path]:
    """Hold kubectl's lock, `<file>.lock`, around a change of the file that `path` leads to."""
    target = path.resolve()
    lock = target.with_name(target.name + ".lock")
    try:
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _take(lock)
    except FileExistsError as cause:
        raise ConfigError(f"{target} is being changed by another program; if none is, remove {lock}") from cause
    except OSError as cause:
        raise ConfigError(f"{target} cannot be changed: {cause.strerror}") from cause
    try:
        yield target
    finally:
        lock.unlink(missing_ok=True)


def _take(lock: Path) -> None:
    """Create the lock file; whoever holds it has a moment to finish. Raises FileExistsError."""
    deadline = time.monotonic() + LOCK_PATIENCE_SECONDS
    while True:
        try:
            os.close(os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except FileExistsError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)
        else:
            return


def replace_content(target: Path, content: bytes) -> None:
    """Put `content` in the place of the file's own; only its owner can read it. On return it is on disk."""
    fresh = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        _write_durably(fresh, content, owned_like=target)
        os.replace(fresh, target)
        _sync_folder(target.parent)
    except OSError as cause:
        fresh.unlink(missing_ok=True)
        raise ConfigError(f"{target} cannot be written: {cause.strerror}") from cause


def _write_durably(file: Path, content: bytes, *, owned_like: Path) -> None:
    file.unlink(missing_ok=True)
    with os.fdopen(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as opened:
        if owned_like.exists():
            # A file that root changes for somebody must stay theirs.
            owner = owned_like.stat()
            if owner.st_uid != os.getuid():
                os.fchown(opened.fileno(), owner.st_uid, owner.st_gid)
        opened.write(content)
        opened.flush()
        os.fsync(opened.fileno())


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
