"""A real cluster in a process of its own, which a whole module is unkind to."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio

from tests.chaos.process import Server
from tests.hostile.besieged import Besieged, besieged


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Up for the whole module. Whatever was done to it, it must not have lost its composure."""
    server = Server(tmp_path_factory.mktemp("hostile"))
    with asyncio.Runner() as runner:
        runner.run(server.start())
        yield server
        assert runner.run(server.stop()) == 0, server.words()
    assert "Traceback" not in server.words(), server.words()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def siege(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Besieged]:
    """One cluster that all attackers attack. What it said to all of them is searched for their secrets at the end."""
    async with besieged(tmp_path_factory.mktemp("siege")) as siege:
        yield siege
