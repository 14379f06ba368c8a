"""A server, with and without controllers."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.controllers import world as worlds
from tests.controllers.world import World


@pytest.fixture
async def bare() -> AsyncIterator[World]:
    """A server without controllers; a test starts them itself."""
    async with worlds.world() as world:
        yield world


@pytest.fixture
async def world(bare: World) -> AsyncIterator[World]:
    """A server whose controllers run."""
    async with bare.controlled():
        yield bare
