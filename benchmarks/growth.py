"""What a read, a write and a page of a list cost as the store fills up, and what a start does.

The store is filled from behind, through its own interface while no server runs: a million creates over HTTP would take
minutes and measure something else.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from urllib.parse import quote
from uuid import uuid4

from benchmarks import objects
from benchmarks.generator import Generator
from benchmarks.ours import Ours
from benchmarks.scenarios import Figures, make_namespace
from hardpoint.machinery.stored import to_stored
from hardpoint.machinery.timestamps import format_time
from hardpoint.store.open import STORE_FOLDER
from hardpoint.store.sqlite import SqliteStore

SIZES = (1_000, 10_000, 100_000, 1_000_000)
PAGE = 500
PAGES = 20
_BATCH = 1024
_NAMESPACE = "filled"
_COLLECTION = f"/api/v1/namespaces/{_NAMESPACE}/configmaps"


def measure(server: Ours, load: Generator, seconds: float, sizes: Sequence[int] = SIZES) -> dict[int, Figures]:
    """Figures by number of objects."""
    curve: dict[int, Figures] = {}
    filled = 0
    with server.running():
        make_namespace(server.endpoint, _NAMESPACE)
        make_namespace(server.endpoint, "written")
    for size in sizes:
        began = time.perf_counter()
        asyncio.run(_fill(server, filled, size))
        fill_seconds = time.perf_counter() - began
        with server.running() as ready_seconds:
            figures = _figures(server, load, seconds, size)
        curve[size] = {"ready_s": ready_seconds, "fill_per_second": (size - filled) / fill_seconds, **figures}
        filled = size
        print(f"  {size:>9,} objects: " + ", ".join(f"{name} {value:.4g}" for name, value in curve[size].items()))
    return curve


async def _fill(server: Ours, first: int, last: int) -> None:
    store = await SqliteStore.open(server.data_dir / STORE_FOLDER, holder="benchmark")
    try:
        for start in range(first, last, _BATCH):
            numbers = range(start, min(start + _BATCH, last))
            await asyncio.gather(*(store.create(_key(number), _value(number)) for number in numbers))
    finally:
        await store.close()


def _key(number: int) -> str:
    return f"/registry/core/configmaps/{_NAMESPACE}/map-{number}"


def _value(number: int) -> bytes:
    obj = objects.config_map()
    obj["metadata"] |= {
        "name": f"map-{number}",
        "namespace": _NAMESPACE,
        "uid": str(uuid4()),
        "creationTimestamp": format_time(datetime.now(UTC)),
    }
    return to_stored(obj)


def _figures(server: Ours, load: Generator, seconds: float, size: int) -> Figures:
    endpoint = server.endpoint
    written = "/api/v1/namespaces/written/configmaps"
    before = server.processor_seconds()
    get = load.get(endpoint, f"{_COLLECTION}/map-{{number}}", names=size, seconds=seconds)
    between = server.processor_seconds()
    create = load.create(endpoint, written, objects.config_map(), prefix=f"at-{size}", seconds=seconds)
    after = server.processor_seconds()
    page = load.list(endpoint, f"{_COLLECTION}?limit={PAGE}", times=PAGES)
    figures = {
        "get_per_second": get["per_second"],
        "get_cpu_us": (between - before) / get["requests"] * 1e6,
        "create_per_second": create["per_second"],
        "create_cpu_us": (after - between) / create["requests"] * 1e6,
        "first_page_ms": page["ms_p50"],
    }
    if page["continue"]:
        path = f"{_COLLECTION}?limit={PAGE}&continue={quote(page['continue'])}"
        figures["next_page_ms"] = load.list(endpoint, path, times=PAGES)["ms_p50"]
    figures["memory_mb"] = server.resident_mb()
    return figures
