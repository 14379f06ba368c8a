"""Remembering what was made of texts that strangers send.

The same few texts come again and again, and those are worth keeping. One of a megabyte is not: thousands of them, each
a little different, would fill the memory of whoever kept them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Concatenate, ParamSpec, TypeVar

LENGTH_MAX = 1024

P = ParamSpec("P")
T = TypeVar("T")
OfText = Callable[Concatenate[str, P], T]


def remembered(*, count: int, length_max: int = LENGTH_MAX) -> Callable[[OfText[P, T]], OfText[P, T]]:
    """Keep the newest `count` results of a function of a text; those of longer texts are made each time."""

    def remembering(function: OfText[P, T]) -> OfText[P, T]:
        kept = lru_cache(maxsize=count)(function)

        @wraps(function)
        def recalled(text: str, /, *args: P.args, **kwargs: P.kwargs) -> T:
            if len(text) > length_max:
                return function(text, *args, **kwargs)
            return kept(text, *args, **kwargs)  # type: ignore[arg-type]  # what is kept has hashable arguments

        return recalled

    return remembering
