"""What the figures were measured on."""

from __future__ import annotations

import os
import platform
import time
from pathlib import Path
from statistics import median
from typing import Any

SYNCS = 50


def describe(directory: Path) -> dict[str, Any]:
    """The machine, how busy it was when we came, and what a durable write costs where the data will be."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "kernel": platform.release(),
        "load_average_before": round(os.getloadavg()[0], 2),
        "sync_ms": round(_sync_ms(directory / "sync"), 3),
    }


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def _sync_ms(path: Path) -> float:
    """The middle time of a write of 4 KB that reaches the disk."""
    took = []
    with path.open("wb") as file:
        for _ in range(SYNCS):
            began = time.perf_counter()
            file.write(bytes(4096))
            file.flush()
            os.fdatasync(file.fileno())
            took.append(time.perf_counter() - began)
    path.unlink()
    return median(took) * 1000
