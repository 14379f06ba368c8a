"""Which tests run: those that need other people's programs, or a long time, run only when asked for by name."""

from __future__ import annotations

import pytest

ON_REQUEST = {
    "interop": "run the tests that need programs built by tools/interop.sh",
    "chaos": "run the long tests that kill, fill and fuzz",
}
"""A marker, which is also its option, and what the option does."""


def pytest_addoption(parser: pytest.Parser) -> None:
    for marker, does in ON_REQUEST.items():
        parser.addoption(f"--{marker}", action="store_true", help=does)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    unasked = [marker for marker in ON_REQUEST if not config.getoption(marker)]
    for item in items:
        for marker in unasked:
            if item.get_closest_marker(marker):
                item.add_marker(pytest.mark.skip(reason=f"runs with `make {marker}`"))
