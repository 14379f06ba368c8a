"""Reads that must not be older than a resourceVersion."""

from __future__ import annotations

import asyncio

from hardpoint.machinery import errors
from hardpoint.store.contract import Store

PATIENCE_SECONDS = 3.0


async def wait_until_reached(store: Store, revision: int) -> int:
    """The store's revision, once it is at least `revision`. Raises 504 if that takes longer than three seconds."""
    current = await store.revision()
    if current >= revision:
        return current
    try:
        async with asyncio.timeout(PATIENCE_SECONDS), store.watch("/", after=current) as batches:
            current = max(current, await store.revision())
            while current < revision:
                current = (await anext(batches))[-1].revision
    except (TimeoutError, StopAsyncIteration):
        raise errors.version_too_large(revision, current) from None
    return current
