"""The real API server, in-process, for what the runtime does with it."""

from tests.apiserver.conftest import api

__all__ = ["api"]
