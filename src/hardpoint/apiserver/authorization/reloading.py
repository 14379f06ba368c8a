"""The authorizers of a configuration file, put together again when the file changes.

A change takes effect when it is sound. A bad one is logged and counted, and the last good configuration stays.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from contextlib import aclosing
from pathlib import Path

from hardpoint.apiserver.authorization import configuration
from hardpoint.apiserver.authorization.chain import Authorization, Named
from hardpoint.apiserver.authorization.modes import Material, put_together
from hardpoint.apiserver.filecontents import contents
from hardpoint.machinery.errors import ConfigError

log = logging.getLogger(__name__)


async def follow(file: Path, authorization: Authorization, material: Material) -> None:
    """Take over what the file says whenever that changes, until cancelled."""
    current, settled = material.wanted, b""
    async with asyncio.TaskGroup() as tasks, aclosing(contents(file)) as texts:
        async for text in texts:
            if text == settled:
                continue
            settled = text
            try:
                wanted = configuration.parse(text, file)
                if wanted == current:
                    continue
                retired = authorization.replace(put_together(wanted, material))
            except ConfigError as wrong:
                material.metrics.reloads["failure"] += 1
                log.error("authorization configuration not reloaded", extra={"file": str(file), "why": str(wrong)})
                continue
            current = wanted
            material.metrics.reloads["success"] += 1
            log.info("authorization configuration reloaded", extra={"file": str(file)})
            tasks.create_task(_retire(retired), name="authorizers no longer asked")


async def _retire(authorizers: Sequence[Named]) -> None:
    """Close what is no longer asked, once the last question to it has been answered."""
    try:
        await asyncio.sleep(configuration.PATIENCE_SECONDS)
    finally:
        for each in authorizers:
            if each.close is not None:
                await each.close()
