"""A world with widgets."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.definitions import definition
from tests.seams.controller import world as worlds
from tests.seams.controller.world import World


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with worlds.world(definition("Widget")) as made:
        yield made
