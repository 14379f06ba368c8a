"""`hardpoint up` as a process that can be killed, over a data directory that outlives it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import resource
import ssl
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

UP = (sys.executable, "-m", "hardpoint.cli")
API_ALONE = ("--components", "apiserver")
"""Nobody writes but the clients, and it is up sooner."""
READY_SECONDS_MAX = 30.0


class Refused(Exception):
    """The cluster did not start. The message is all that it said."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.status = status
        self.words = words


class Server:
    """One cluster through all its lives."""

    host = "127.0.0.1"
    port = 0
    tls: ssl.SSLContext

    def __init__(
        self,
        place: Path,
        *,
        program: Sequence[str] = UP,
        arguments: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
        data: Path | None = None,
        open_files_max: int = 0,
    ) -> None:
        self.data = data or place / "data"
        self.said = place / "said.txt"
        self._place = place
        self._program = program
        self._arguments = arguments
        self.environment = {**os.environ, "HOME": str(place), **(environment or {})}
        self._open_files_max = open_files_max
        self._process: asyncio.subprocess.Process | None = None

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    async def start(self) -> None:
        """Start it and wait until it is ready. Raises Refused if it ends instead."""
        with self.said.open("ab") as said:
            begins = said.tell()
            self._process = await asyncio.create_subprocess_exec(
                *(*self._program, "up", "--port", str(self.port), "--data-dir", str(self.data)),
                *("--kubeconfig", str(self._place / "kubeconfig"), *self._arguments),
                env=self.environment,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=said,
                preexec_fn=self._limit_open_files if self._open_files_max else None,
            )
        assert self._process.stdout is not None
        async with asyncio.timeout(READY_SECONDS_MAX):
            first = await self._process.stdout.readline()
        if not first:
            status = await self._process.wait()
            raise Refused(status, self.said.read_bytes()[begins:].decode())
        self.port = int(first.split()[1].rpartition(b":")[2])
        if not hasattr(self, "tls"):
            self.tls = self._credentials()

    async def start_somehow(self, crash_status: int) -> None:
        """Start it as often as it takes, if it ends with this status."""
        while True:
            try:
                return await self.start()
            except Refused as refused:
                if refused.status != crash_status:
                    raise

    async def kill(self) -> int:
        """End it as a crash would: at once, wherever it is. Returns how it ended, which may have been before."""
        if self._process is None:
            return 0
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        return await self._gone()

    async def stop(self) -> int:
        """Ask it to stop, and return its exit status."""
        assert self._process is not None
        with contextlib.suppress(ProcessLookupError):
            self._process.terminate()
        return await self._gone()

    async def ended(self) -> int:
        """Wait until it ends by itself."""
        return await self._gone()

    def words(self) -> str:
        """All it has said on stderr, through all its lives."""
        return self.said.read_text()

    def resident_bytes(self) -> int:
        pages = int(Path(f"/proc/{self.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")

    def cpu_seconds(self) -> float:
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    async def _gone(self) -> int:
        assert self._process is not None
        # The output is read to its end, or the pipe would stay open behind the process.
        await self._process.communicate()
        return await self._process.wait()

    def _credentials(self) -> ssl.SSLContext:
        pki = self.data / "pki"
        context = ssl.create_default_context(cafile=str(pki / "server-ca.crt"))
        context.load_cert_chain(pki / "admin.crt", pki / "admin.key")
        return context

    def anonymous(self) -> ssl.SSLContext:
        """What a client has that shows no certificate."""
        return ssl.create_default_context(cafile=str(self.data / "pki" / "server-ca.crt"))

    def _limit_open_files(self) -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (self._open_files_max, self._open_files_max))


@asynccontextmanager
async def running(server: Server) -> AsyncIterator[Server]:
    """Start it, and kill it at the end whatever happened. It must not have lost its composure."""
    try:
        await server.start()
        yield server
    finally:
        await server.kill()
    assert "Traceback" not in server.words(), server.words()
