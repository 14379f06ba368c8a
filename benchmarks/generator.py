"""Calls the load generator: the one in load/, built once into the user's cache, or fallback.py where there is no Go."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import orjson

from benchmarks.server import Endpoint

Json = dict[str, Any]

SOURCE = Path(__file__).parent / "load"
CONNECTIONS = 16
WATCH_PATIENCE_SECONDS = 300.0


class LoadFailed(Exception):
    """The generator could not be built, or a request was refused."""


class Generator:
    """Makes load on whatever endpoint it is given."""

    def __init__(self, scratch: Path) -> None:
        self._scratch = scratch
        self._command = _go_command() or [sys.executable, "-m", "benchmarks.fallback"]
        self.is_fast = len(self._command) == 1

    def get(self, endpoint: Endpoint, path: str, *, names: int, seconds: float) -> Json:
        """Read objects for some seconds; `{number}` in the path goes through the numbers below `names`."""
        return self._run(endpoint, "get", path=path, count=names, seconds=seconds)

    def create(
        self, endpoint: Endpoint, path: str, obj: Json, *, prefix: str, seconds: float = 0.0, count: int = 0
    ) -> Json:
        """Create objects, for some seconds or `count` of them, named by `prefix` and a number."""
        return self._run(
            endpoint, "create", path=path, body=self._file(obj), prefix=prefix, seconds=seconds, count=count
        )

    def list(self, endpoint: Endpoint, path: str, *, times: int, accept: str = "application/json") -> Json:
        """Read a collection again and again, over one connection."""
        return self._run(endpoint, "list", path=path, count=times, accept=accept, connections=1)

    def watch(self, endpoint: Endpoint, path: str, obj: Json, *, prefix: str, watchers: int, events: int) -> Json:
        """Watch a collection many times over while objects are created in it."""
        return self._run(
            endpoint,
            "watch",
            path=path,
            body=self._file(obj),
            prefix=prefix,
            watchers=watchers,
            count=events,
            seconds=WATCH_PATIENCE_SECONDS,
        )

    def _file(self, obj: Json) -> str:
        path = self._scratch / "body.json"
        path.write_bytes(orjson.dumps(obj))
        return str(path)

    def _run(self, endpoint: Endpoint, mode: str, *, connections: int = CONNECTIONS, **flags: object) -> Json:
        told = {
            "mode": mode,
            "server": endpoint.url,
            "ca": endpoint.ca,
            "cert": endpoint.certificate,
            "key": endpoint.key,
            "connections": connections,
            **flags,
        }
        arguments = [f"-{name}={value}" for name, value in told.items()]
        done = subprocess.run([*self._command, *arguments], capture_output=True, text=True)
        if done.returncode:
            raise LoadFailed(f"{mode} {flags.get('path')}: {done.stderr.strip()}")
        answer: Json = orjson.loads(done.stdout)
        return answer


def _go_command() -> list[str] | None:
    """The generator's program, built if its source has changed. None without Go, or without a way to build."""
    if shutil.which("go") is None:
        print(
            "no Go on PATH: the load comes from Python, which is slower than the servers it measures", file=sys.stderr
        )
        return None
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "hardpoint-bench"
    cache.mkdir(parents=True, exist_ok=True)
    program = cache / "load"
    built = subprocess.run(["go", "build", "-o", program, "."], cwd=SOURCE, capture_output=True, text=True)
    if built.returncode:
        raise LoadFailed(f"the load generator does not build: {built.stderr.strip()}")
    return [str(program)]
