"""The threads for what takes a while and needs nothing but a processor, so that nobody else waits for it.

There are few: each would take the interpreter from everybody else in turns. Who wants one while all are taken waits.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TypeVar

T = TypeVar("T")

THREADS = 2
LARGE_BYTES = 128 * 1024
"""Whoever works through every part of an object of which more is written does so in a thread."""


async def beside(work: Callable[[], T]) -> T:
    """What `work` returns or raises. It goes on even if nobody waits for it any more."""
    return await asyncio.get_running_loop().run_in_executor(_pool(), work)


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(THREADS, thread_name_prefix="beside")
