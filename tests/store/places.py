"""Where tests keep their data: in memory where there is such a file system, because syncing a busy disk is slow."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_SHARED_MEMORY = Path("/dev/shm")


@contextmanager
def quick_folder() -> Iterator[Path]:
    """A folder that is gone afterwards."""
    place = _SHARED_MEMORY if _SHARED_MEMORY.is_dir() else None
    with tempfile.TemporaryDirectory(prefix="hardpoint-", dir=place) as folder:
        yield Path(folder)
