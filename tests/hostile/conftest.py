"""A real cluster in a process of its own, which a whole module is unkind to."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from tests.chaos.process import Server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Up for the whole module. Whatever was done to it, it must not have lost its composure."""
    server = Server(tmp_path_factory.mktemp("hostile"))
    with asyncio.Runner() as runner:
        runner.run(server.start())
        yield server
        assert runner.run(server.stop()) == 0, server.words()
    assert "Traceback" not in server.words(), server.words()
