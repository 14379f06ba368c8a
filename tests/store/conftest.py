"""One fixture for every engine: what the contract says is tested against each of them."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from hardpoint.store.contract import Store
from hardpoint.store.memory import MemoryStore
from hardpoint.store.sqlite import SqliteStore
from tests.store.etcd_process import ETCD, MISSING, Etcd, running_etcd
from tests.store.places import quick_folder


@pytest.fixture(scope="session")
def etcd() -> Iterator[Etcd]:
    """One etcd for the whole run; tests that stop it start their own."""
    if not os.access(ETCD, os.X_OK):
        pytest.skip(MISSING)
    with quick_folder() as folder, running_etcd(folder) as process:
        yield process


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder of its own for each test."""
    with quick_folder() as place:
        yield place


@pytest.fixture(params=["memory", "sqlite", "etcd"])
async def store(request: pytest.FixtureRequest, folder: Path) -> AsyncIterator[Store]:
    """An empty store of each engine in turn."""
    engine = await ENGINES[request.param](request, folder)
    yield engine
    await engine.close()


async def open_memory(_request: pytest.FixtureRequest, _folder: Path) -> Store:
    return MemoryStore()


async def open_sqlite(_request: pytest.FixtureRequest, folder: Path) -> Store:
    return await SqliteStore.open(folder / "store")


async def open_etcd(request: pytest.FixtureRequest, _folder: Path) -> Store:
    address = request.getfixturevalue("etcd").address
    pytest.importorskip("grpc", reason="grpcio is not installed")
    from hardpoint.store.etcd import EtcdStore

    store = await EtcdStore.open([address])
    for item in (await store.range("")).items:
        await store.delete(item.key, expected=item.revision)
    return store


ENGINES: dict[str, Callable[[pytest.FixtureRequest, Path], Awaitable[Store]]] = {
    "memory": open_memory,
    "sqlite": open_sqlite,
    "etcd": open_etcd,
}
