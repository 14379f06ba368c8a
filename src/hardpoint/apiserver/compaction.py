"""Forgetting: every five minutes, what was overwritten more than five minutes ago."""

from __future__ import annotations

import asyncio
import logging

from hardpoint.machinery.errors import StoreError
from hardpoint.store.contract import Store

INTERVAL_SECONDS = 300.0

log = logging.getLogger(__name__)


async def keep_compacted(store: Store, *, interval_seconds: float = INTERVAL_SECONDS) -> None:
    """Compact the store at the revision of one interval ago, until cancelled."""
    revision = await store.revision()
    while True:
        await asyncio.sleep(interval_seconds)
        try:
            await store.compact(revision)
            revision = await store.revision()
        except StoreError as failed:
            log.warning("compaction failed, will be tried again", extra={"revision": revision, "error": str(failed)})
