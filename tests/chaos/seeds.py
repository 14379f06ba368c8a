"""Where chance comes from: one number, said first, that makes a run happen again."""

from __future__ import annotations

import os
import random

import pytest

VARIABLE = "HARDPOINT_SEED"


def draw(request: pytest.FixtureRequest) -> random.Random:
    """The chance of one test. The number is printed before anything happens, and again if the test fails."""
    seed = int(os.environ.get(VARIABLE) or random.SystemRandom().randrange(1 << 32))
    print(f"replay with: {VARIABLE}={seed} pytest '{request.node.nodeid}'{_options(request.config)}")
    # Tests of one run differ although they share its number.
    return random.Random(f"{seed} {request.node.nodeid}")


def _options(config: pytest.Config) -> str:
    return " --chaos" if config.getoption("chaos") else ""
