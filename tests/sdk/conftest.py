"""A home of the test's own, for those that run commands."""

from tests.cli.conftest import home

__all__ = ["home"]
