"""One operator under changes that no API server holds up: what it can take by itself. Its function writes nothing."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic

from benchmarks.operators.process import Kind, running
from benchmarks.operators.trial import Size, percentiles, prepare, wait_until, wait_until_quiet
from benchmarks.ours import Ours
from benchmarks.scenarios import Figures
from benchmarks.server import STOP_SECONDS_MAX


class Feed:
    """An API server whose objects change when it is told so."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    async def change(self, count: int, revision: int, pace: int = 0) -> None:
        await asyncio.to_thread(self._tell, f"{revision} {count} {pace}\n")

    def hear(self, word: str) -> None:
        assert self._process.stdout is not None
        said = self._process.stdout.readline()
        assert said == f"{word}\n", f"the feed said {said!r}, not {word!r}"

    def _tell(self, command: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(command)
        self._process.stdin.flush()
        self.hear("done")


@contextmanager
def feeding(server: Ours) -> Iterator[Feed]:
    """The feed over what a server left, which must not run."""
    command = [sys.executable, "-m", "benchmarks.operators.feed", str(server.data_dir), str(server.kubeconfig)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        feed = Feed(process)
        feed.hear("ready")
        yield feed
    finally:
        process.communicate(timeout=STOP_SECONDS_MAX)


async def measure(kind: Kind, size: Size, directory: Path, pace: int) -> Figures:
    """As fast as it goes, and at a pace."""
    server = Ours(directory / "server")
    await prepare(server, kind, size, directory, writes=False)
    with feeding(server) as feed, running(kind, directory, server.kubeconfig, writes=False) as operator:
        tally = operator.tally
        await wait_until(operator, lambda: tally.count >= size.objects)
        await wait_until_quiet(operator)
        began, before, seen = monotonic(), operator.processor_seconds(), tally.count
        await feed.change(size.changes, 2)
        await wait_until(operator, lambda: tally.count >= seen + size.changes)
        figures = {
            "fed_per_second": size.changes / (monotonic() - began),
            "fed_cpu_us": (operator.processor_seconds() - before) / size.changes * 1e6,
        }
        await wait_until_quiet(operator)
        count, seen = min(int(pace * size.paced_seconds), size.objects), tally.count
        await feed.change(count, 3, pace)
        await wait_until(operator, lambda: tally.count >= seen + count)
        return figures | percentiles(f"fed_{pace}", tally.delays_ms(seen))
