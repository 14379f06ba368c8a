"""One fixture for every engine: what the contract says is tested against each of them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from hardpoint.store.contract import Store
from hardpoint.store.memory import MemoryStore
from hardpoint.store.sqlite import SqliteStore


@pytest.fixture(params=["memory", "sqlite"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    engine: Store
    if request.param == "memory":
        engine = MemoryStore()
    else:
        engine = await SqliteStore.open(tmp_path / "store")
    yield engine
    await engine.close()
