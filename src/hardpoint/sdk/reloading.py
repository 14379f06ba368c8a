"""Loading an author's files again when one is saved. What cannot be loaded is told, and what ran before goes on."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence, Set

from hardpoint.machinery.errors import ConfigError
from hardpoint.sdk.app import App
from hardpoint.sdk.loading import Loaded, load

log = logging.getLogger(__name__)


async def reload_on_save(
    targets: Sequence[str], loaded: Sequence[Loaded], use: Callable[[Sequence[App]], None]
) -> None:
    """Whenever a file of `targets` is saved, load them all again and `use` what they hold. Runs until cancelled."""
    import watchfiles

    while True:
        watched = {str(file.parent) for one in loaded for file in one.files}
        files = {str(file) for one in loaded for file in one.files}
        is_ours = _among(files)  # Whatever else is written there, the process's own log perhaps, is not even told of.
        async for _ in watchfiles.awatch(*watched, recursive=False, watch_filter=is_ours):
            break
        loaded = _again(targets, loaded, use)


def _among(files: Set[str]) -> Callable[[object, str], bool]:
    return lambda _, path: path in files


def _again(targets: Sequence[str], loaded: Sequence[Loaded], use: Callable[[Sequence[App]], None]) -> Sequence[Loaded]:
    for one in loaded:
        one.forget()
    try:
        fresh = [load(target) for target in targets]
        use([one.app for one in fresh])
    except ConfigError as wrong:
        log.error("not loaded again", extra={"error": str(wrong)})
        return loaded
    log.info("loaded again", extra={"apps": ", ".join(one.app.name for one in fresh)})
    return fresh
