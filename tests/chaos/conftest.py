"""What chaos is made of: chance that can be repeated, and how much of it is wanted."""

from __future__ import annotations

import random

import pytest

from tests.chaos import seeds


@pytest.fixture
def chance(request: pytest.FixtureRequest) -> random.Random:
    """Decides everything that is left to chance in one test."""
    return seeds.draw(request)


@pytest.fixture
def is_long(request: pytest.FixtureRequest) -> bool:
    """Whether the long campaign was asked for, with --chaos."""
    return bool(request.config.getoption("chaos"))
