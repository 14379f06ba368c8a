"""An operator as a process of its own: how it is started, and what it costs."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.operators.tally import PATH, Tally
from benchmarks.server import STOP_SECONDS_MAX, processor_seconds, resident_mb

_HERE = Path(__file__).parent
_ROOT = _HERE.parents[1]
_BIN = Path(sys.executable).parent


@dataclass(frozen=True, slots=True)
class Kind:
    """One way to write the operator."""

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)


_KOPF = (str(_BIN / "kopf"), "run", "--standalone", "--all-namespaces", "--quiet", str(_HERE / "with_kopf.py"))
HARDPOINT = Kind("hardpoint", (str(_BIN / "hardpoint"), "run", "--no-crds", str(_HERE / "with_hardpoint.py")))
KOPF = Kind("kopf", _KOPF)
KOPF_EVENTS = Kind("kopf, events", _KOPF, {"BENCH_KOPF": "events"})


class OperatorEnded(Exception):
    """An operator ended before it was to; the end of its log says why."""


class Operator:
    """One that runs."""

    def __init__(self, process: subprocess.Popen[bytes], log: Path, tally: Tally) -> None:
        self._process = process
        self._log = log
        self.tally = tally

    def resident_mb(self) -> float:
        return resident_mb(self._process.pid)

    def processor_seconds(self) -> float:
        return processor_seconds(self._process.pid)

    def check_alive(self) -> None:
        """Raises OperatorEnded."""
        status = self._process.poll()
        if status is not None:
            said = self._log.read_bytes()[-2000:].decode(errors="replace")
            raise OperatorEnded(f"the operator ended with status {status}:\n{said}")


@contextmanager
def running(kind: Kind, directory: Path, kubeconfig: Path, *, writes: bool) -> Iterator[Operator]:
    """An operator, from the start of its process until the block is left. Its log is in the directory."""
    tally = Tally.create(directory / "tally")
    told = {PATH: str(directory / "tally"), "BENCH_WRITES": str(int(writes))}
    sources = os.pathsep.join(filter(None, (str(_ROOT), os.environ.get("PYTHONPATH"))))
    found = {"KUBECONFIG": str(kubeconfig), "PYTHONPATH": sources}
    environment = {**os.environ, **kind.environment, **told, **found}
    path = directory / "operator.log"
    with path.open("ab") as log:
        process = subprocess.Popen(
            kind.command, env=environment, cwd=_ROOT, stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )
    try:
        yield Operator(process, path, tally)
    finally:
        process.terminate()
        try:
            process.wait(STOP_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
