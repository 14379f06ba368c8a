"""What tests of the API server share: requests made by hand, and the recorded answers of the real one."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path

import pytest

from hardpoint.machinery.messages import Peer, Request


@pytest.fixture
def request_for() -> Callable[..., Request]:
    """Makes a request from a path with its query: `request_for("/livez?verbose")`."""

    def make(url: str, *, method: str = "GET", headers: Mapping[str, str] | None = None, body: bytes = b"") -> Request:
        path, _, query = url.partition("?")
        return Request(method, path, query, dict(headers or {}), body, Peer("in-process"))

    return make


@pytest.fixture(scope="session")
def reference() -> Path:
    """The folder of what was recorded from kube-apiserver v1.37; skips where it is not at hand."""
    beside = Path(__file__).parents[2].parent / "shared/reference"
    folder = Path(os.environ.get("HARDPOINT_REFERENCE", beside))
    if not folder.is_dir():
        pytest.skip(f"no recorded answers at {folder}; HARDPOINT_REFERENCE can name the folder")
    return folder


@pytest.fixture(params=["memory", "sqlite"])
async def api(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[object]:
    """A running server, over a store in memory and over one on disk."""
    from hardpoint.apiserver.server import ApiServer
    from hardpoint.store.memory import MemoryStore
    from hardpoint.store.sqlite import SqliteStore
    from tests.apiserver.asking import Api

    store = MemoryStore() if request.param == "memory" else await SqliteStore.open(tmp_path / "data")
    async with ApiServer(store).running() as server:
        yield Api(server)
    await store.close()
