"""What a file holds: now, whenever it changes, and now and then in case nobody said so.

For configuration that is taken over while the server runs. What to do about a bad content is the reader's decision.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator
from pathlib import Path

log = logging.getLogger(__name__)

LOOK_SECONDS = 60


async def contents(file: Path) -> AsyncGenerator[bytes, None]:
    """The content, first as it is, then again after every change, and at least once a minute; some are the same.

    A file that cannot be read is logged and passed over. Close the iterator (`aclosing`) to stop watching.
    """
    from watchfiles import awatch  # Few servers follow a file.

    # Its folder is watched, for a file that is replaced is another file.
    looks = awatch(file.parent, rust_timeout=LOOK_SECONDS * 1000, yield_on_timeout=True, recursive=False)
    look = asyncio.ensure_future(anext(looks))
    try:
        await asyncio.sleep(0)  # From here on it is watched, and nothing that is written is missed.
        while True:
            try:
                yield await asyncio.to_thread(file.read_bytes)
            except OSError as cause:
                log.error("configuration not read", extra={"file": str(file), "why": cause.strerror})
            await look
            look = asyncio.ensure_future(anext(looks))
    finally:
        look.cancel()
        await asyncio.wait([look])
        await looks.aclose()
