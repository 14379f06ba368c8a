"""A server that believes an issuer, for tests about tokens of others."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import orjson
import pytest

from hardpoint.apiserver.authentication.options import AuthenticationOptions
from hardpoint.apiserver.server import ApiServer
from hardpoint.store.memory import MemoryStore
from tests.apiserver.asking import Api
from tests.apiserver.authentication.issuer import Issuer, running_issuer

Json = dict[str, Any]
Serving = Callable[[AuthenticationOptions], AbstractAsyncContextManager[Api]]


@pytest.fixture
async def issuer(tmp_path: Path) -> AsyncIterator[Issuer]:
    async with running_issuer(tmp_path / "issuer") as running:
        yield running


@asynccontextmanager
async def serving(options: AuthenticationOptions) -> AsyncIterator[Api]:
    """An API server with these options."""
    store = MemoryStore()
    async with ApiServer(store, authentication=options).running() as server:
        yield Api(server)
    await store.close()


def write_configuration(file: Path, *jwt: Json, **more: Any) -> None:
    """An AuthenticationConfiguration of these issuers. JSON is YAML too."""
    config = {"apiVersion": "apiserver.config.k8s.io/v1", "kind": "AuthenticationConfiguration", "jwt": list(jwt)}
    fresh = file.with_name(f".{file.name}")
    fresh.write_bytes(orjson.dumps({**config, **more}))
    fresh.replace(file)


@pytest.fixture
async def trusting(tmp_path: Path, issuer: Issuer) -> AsyncIterator[Api]:
    """A server that believes the issuer."""
    file = tmp_path / "authentication.yaml"
    write_configuration(file, issuer.configuration())
    async with serving(AuthenticationOptions(config_file=file)) as api:
        yield api
