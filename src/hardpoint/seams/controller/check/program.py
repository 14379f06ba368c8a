"""The controller's process: started as its user would start it, kept running as a kubelet would, and killed.

Whatever it prints is kept in a file beside its kubeconfig; only its last words are ever shown.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from hardpoint.runtime.promises import Broken

RESTART_SECONDS = (0.1, 2.0)
"""How long a program that ended by itself is left down: the first time, and at most."""
WORDS_MAX = 300
TAIL_BYTES = 64 * 1024
"""Where its last words are looked for; programs may print a lot."""
_LETTERS = re.compile(r"\w{2}")
_NOT_FOR_IT = ("KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT")


@dataclass(frozen=True, slots=True)
class Exit:
    """An end that nobody asked for."""

    status: int
    words: str

    def __str__(self) -> str:
        how = f"was ended by {signal.Signals(-self.status).name}" if self.status < 0 else f"ended ({self.status})"
        return f"{how}, saying {self.words!r}" if self.words else how


class Program:
    """One controller, in any language."""

    def __init__(self, command: Sequence[str], folder: Path) -> None:
        """`folder` holds its kubeconfig, called `kubeconfig`, and will hold what it prints."""
        self.exits: list[Exit] = []
        self.started_at = 0.0
        """When it was started last, by the monotonic clock."""
        self._command = command
        self._folder = folder
        self._process: asyncio.subprocess.Process | None = None
        self._is_end_wanted = False
        self._may_run = asyncio.Event()
        (folder / "printed").touch()

    @property
    def kubeconfig(self) -> Path:
        return self._folder / "kubeconfig"

    @property
    def words(self) -> str:
        """The last line it printed that says something."""
        with (self._folder / "printed").open("rb") as printed:
            printed.seek(max(printed.seek(0, os.SEEK_END) - TAIL_BYTES, 0))
            lines = printed.read().decode(errors="replace").split("\n")
        return next((line.strip()[-WORDS_MAX:] for line in reversed(lines) if _LETTERS.search(line)), "")

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Keep it running until left. Raises Broken if it cannot be run."""
        await self._start()
        keeping = asyncio.create_task(self._keep(), name="controller")
        try:
            yield
        finally:
            keeping.cancel()
            await asyncio.wait([keeping])
            await self._end()

    def kill(self) -> None:
        """End it as a power cut does; it is started again at once."""
        self._is_end_wanted = True
        self._signal(signal.SIGKILL)
        self.started_at = time.monotonic()

    async def stop(self, *, grace_seconds: float) -> bool:
        """Ask it to end, and tell whether it did in time; it stays down until `resume`."""
        process = self._process
        assert process is not None, "it was started"
        self._may_run.clear()
        self._is_end_wanted = True
        self._signal(signal.SIGTERM)
        try:
            async with asyncio.timeout(grace_seconds):
                await process.wait()
        except TimeoutError:
            self._signal(signal.SIGKILL)
            await process.wait()
            return False
        return True

    def resume(self) -> None:
        """Start it again."""
        self.started_at = time.monotonic()
        self._may_run.set()

    async def _keep(self) -> None:
        pause_seconds, longest_seconds = RESTART_SECONDS
        while True:
            assert self._process is not None, "it was started"
            status = await self._process.wait()
            if not self._is_end_wanted:
                self.exits.append(Exit(status, self.words))
                await asyncio.sleep(pause_seconds)
                pause_seconds = min(pause_seconds * 2, longest_seconds)
            self._sweep()
            await self._may_run.wait()
            await self._start()

    async def _start(self) -> None:
        environment = {name: value for name, value in os.environ.items() if name not in _NOT_FOR_IT}
        environment["KUBECONFIG"] = str(self.kubeconfig)
        self._is_end_wanted = False
        self._may_run.set()
        self.started_at = time.monotonic()
        with (self._folder / "printed").open("ab") as printed:
            try:
                self._process = await asyncio.create_subprocess_exec(
                    *self._command,
                    env=environment,
                    stdin=asyncio.subprocess.DEVNULL,
                    stdout=printed,
                    stderr=printed,
                    start_new_session=True,
                )
            except OSError as cause:
                raise Broken(f"{self._command[0]} cannot be run: {cause.strerror}") from cause

    async def _end(self) -> None:
        self._sweep()
        if self._process is not None:
            await self._process.wait()

    def _sweep(self) -> None:
        """Whatever it started goes with it."""
        self._signal(signal.SIGKILL)

    def _signal(self, number: signal.Signals) -> None:
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, number)
