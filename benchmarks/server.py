"""A server under test: its processes, how it is reached, and what it costs.

What differs between ours and the real pair is which processes there are; see ours.py and real.py.
"""

from __future__ import annotations

import http.client
import os
import socket
import ssl
import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

READY_SECONDS_MAX = 120.0
STOP_SECONDS_MAX = 60.0
_TICKS = os.sysconf("SC_CLK_TCK")


class NotReady(Exception):
    """A server ended, or did not become ready in time; the end of its log says why."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a server is and who we are to it."""

    host: str
    port: int
    ca: Path
    certificate: Path
    key: Path

    @property
    def url(self) -> str:
        return f"https://{self.host}:{self.port}"


class Server(ABC):
    """One server in a directory of its own. It can be started again and finds its data."""

    name: str

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.directory.mkdir(parents=True, exist_ok=True)
        self._processes: list[subprocess.Popen[bytes]] = []

    endpoint: Endpoint

    @abstractmethod
    def versions(self) -> dict[str, str]:
        """What is measured, for the record."""

    @abstractmethod
    def _commands(self) -> list[tuple[str, list[str]]]:
        """The processes in the order they are started and the reverse of the order they are stopped: name, command."""

    def start(self) -> float:
        """Start, and return the seconds until /readyz said yes. Raises NotReady."""
        began = time.perf_counter()
        for name, command in self._commands():
            with (self.directory / f"{name}.log").open("ab") as log:
                self._processes.append(subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL))
        try:
            self._wait_until_ready(began + READY_SECONDS_MAX)
        except BaseException:
            self.stop()
            raise
        return time.perf_counter() - began

    def stop(self) -> None:
        """End every process, the last one first. Idempotent."""
        while self._processes:
            process = self._processes.pop()
            process.terminate()
            try:
                process.wait(STOP_SECONDS_MAX)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    @contextmanager
    def running(self) -> Iterator[float]:
        """Started, for as long as the block lasts; its value is what `start` returns."""
        seconds = self.start()
        try:
            yield seconds
        finally:
            self.stop()

    def resident_mb(self) -> float:
        """Memory that is in use now, of all processes together."""
        return sum(resident_mb(process.pid) for process in self._processes)

    def processor_seconds(self) -> float:
        """Processor time used so far, by all processes together."""
        return sum(processor_seconds(process.pid) for process in self._processes)

    def _wait_until_ready(self, deadline: float) -> None:
        while not self._is_ready():
            for process in self._processes:
                if process.poll() is not None:
                    raise NotReady(f"{self.name} ended with status {process.returncode}:\n{self._last_words()}")
            if time.perf_counter() > deadline:
                raise NotReady(f"{self.name} is not ready after {READY_SECONDS_MAX:g} s:\n{self._last_words()}")
            time.sleep(0.002)

    def _last_words(self) -> str:
        """The end of each log; the logs themselves go away with the directory."""
        logs = sorted(self.directory.glob("*.log"))
        return "\n".join(f"{log.name}: ...{log.read_bytes()[-2000:].decode(errors='replace')}" for log in logs)

    def _is_ready(self) -> bool:
        endpoint = self.endpoint
        try:
            socket.create_connection((endpoint.host, endpoint.port), timeout=1).close()
            # Whether the server is who it says it is, the load generator checks.
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            context.load_cert_chain(endpoint.certificate, endpoint.key)
            connection = http.client.HTTPSConnection(endpoint.host, endpoint.port, timeout=10, context=context)
            try:
                connection.request("GET", "/readyz")
                return connection.getresponse().status == 200
            finally:
                connection.close()
        except (OSError, http.client.HTTPException):
            return False


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def resident_mb(pid: int) -> float:
    """Memory of a process that is in use now."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:")) / 1024


def processor_seconds(pid: int) -> float:
    """Processor time that a process has used so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS
