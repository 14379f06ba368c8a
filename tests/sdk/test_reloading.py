"""Files that are saved are loaded again; what cannot be loaded leaves what was."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from hardpoint.sdk.app import App
from hardpoint.sdk.loading import load
from hardpoint.sdk.reloading import reload_on_save


@asynccontextmanager
async def reloading(target: str) -> AsyncIterator[asyncio.Queue[str]]:
    used: asyncio.Queue[str] = asyncio.Queue()

    def use(apps: Sequence[App]) -> None:
        used.put_nowait(apps[0].name)

    path = list(sys.path)
    task = asyncio.create_task(reload_on_save([target], [load(target)], use))
    try:
        yield used
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        sys.path[:] = path


def save(file: Path, name: str) -> None:
    file.write_text(f"from hardpoint import App\napp = App({name!r})\n")


async def saved_until(file: Path, name: str, used: asyncio.Queue[str]) -> None:
    """Save until somebody notices: nobody says when the watching has begun."""
    async with asyncio.timeout(20):
        while True:
            save(file, name)
            try:
                async with asyncio.timeout(1):
                    while await used.get() != name:
                        pass
                    return
            except TimeoutError:
                continue


class Heard(logging.Handler):
    """Waits for words in the log."""

    def __init__(self, words: str) -> None:
        super().__init__()
        self._words = words
        self.heard: asyncio.Future[logging.LogRecord] = asyncio.get_running_loop().create_future()

    def emit(self, record: logging.LogRecord) -> None:
        if record.getMessage() == self._words and not self.heard.done():
            self.heard.set_result(record)


async def test_a_saved_file_is_used_and_a_broken_one_is_told(tmp_path: Path) -> None:
    file = tmp_path / "watched.py"
    save(file, "one")
    told = Heard("not loaded again")
    logging.getLogger("hardpoint.sdk.reloading").addHandler(told)
    try:
        async with reloading(str(file)) as used, asyncio.timeout(30):
            await saved_until(file, "two", used)
            file.write_text("1 / 0\n")
            assert "watched.py:1: ZeroDivisionError" in vars(await told.heard)["error"]
            await saved_until(file, "three", used)
    finally:
        logging.getLogger("hardpoint.sdk.reloading").removeHandler(told)
