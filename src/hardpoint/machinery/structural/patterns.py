"""Strangers' regular expressions: Go's, so they run on re2, whose time does not explode.

A pattern that re2 cannot hold in its memory never matches, as one that is no regular expression does not.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

MEMORY_BYTES_MAX = 1 << 23


@lru_cache(maxsize=4096)
def compiled(pattern: str) -> Any:
    """The compiled pattern, or None if re2 does not take it."""
    import re2  # Not before a schema has a pattern: start-up does not wait for it.

    options = re2.Options()
    options.log_errors = False
    options.max_mem = MEMORY_BYTES_MAX
    try:
        return re2.compile(pattern, options=options)
    except re2.error:
        return None


def matches(pattern: str, text: str) -> bool:
    """Whether the pattern is found anywhere in the text."""
    expression = compiled(pattern)
    try:
        return expression is not None and expression.search(text) is not None
    except UnicodeEncodeError:
        # A lone surrogate: there is no such text in Go either.
        return False
