"""What the operating system says of this process: Prometheus' usual `process_*` metrics, where there is a /proc."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from pathlib import Path

from hardpoint.machinery.exposition import Family

_PROC = Path("/proc")
_FAMILIES = {
    "process_cpu_seconds_total": ("counter", "Processor time used, in user and in system mode."),
    "process_max_fds": ("gauge", "How many files may be open."),
    "process_open_fds": ("gauge", "How many files are open."),
    "process_resident_memory_bytes": ("gauge", "Memory in use that is not swapped out."),
    "process_start_time_seconds": ("gauge", "When the process began, in seconds since 1970."),
    "process_virtual_memory_bytes": ("gauge", "Addresses in use."),
}


def families() -> Iterator[Family]:
    """What there is to tell; nothing where there is no /proc."""
    if not (_PROC / "self/stat").exists():
        return
    for name, value in _values():
        kind, about = _FAMILIES[name]
        yield name, kind, about, [((), value)]


def _values() -> Iterator[tuple[str, float]]:
    # The second field is the program's name in brackets and may hold spaces; numbers start after it.
    fields = (_PROC / "self/stat").read_text().rpartition(")")[2].split()
    ticks = os.sysconf("SC_CLK_TCK")
    yield "process_cpu_seconds_total", (int(fields[11]) + int(fields[12])) / ticks
    yield "process_max_fds", float(resource.getrlimit(resource.RLIMIT_NOFILE)[0])
    yield "process_open_fds", float(len(os.listdir(_PROC / "self/fd")))
    yield "process_resident_memory_bytes", float(int(fields[21]) * os.sysconf("SC_PAGE_SIZE"))
    yield "process_start_time_seconds", _booted() + int(fields[19]) / ticks
    yield "process_virtual_memory_bytes", float(fields[20])


def _booted() -> float:
    lines = (_PROC / "stat").read_text().splitlines()
    return next(float(line.split()[1]) for line in lines if line.startswith("btime "))
