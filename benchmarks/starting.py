"""How long a server takes from exec to ready, empty and with data, and what it occupies when nothing happens."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.scenarios import Figures
from benchmarks.server import Server

SETTLE_SECONDS = 2.0


def measure(make: Callable[[Path], Server], directory: Path) -> Figures:
    """Start a server in an empty directory, then again in what that left."""
    server = make(directory)
    with server.running() as first_seconds:
        processor_seconds = server.processor_seconds()
        time.sleep(SETTLE_SECONDS)
        memory_mb = server.resident_mb()
    with server.running() as again_seconds:
        pass
    return {
        "ready_first_s": first_seconds,
        "ready_first_cpu_s": processor_seconds,
        "ready_again_s": again_seconds,
        "memory_idle_mb": memory_mb,
    }
