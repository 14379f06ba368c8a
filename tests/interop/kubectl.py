"""The real kubectl, pointed at one server and kept away from the user's own files."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TextIO

PATIENCE_SECONDS = 60


@dataclass(frozen=True)
class Said:
    """How a command ended, and what it printed."""

    status: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()

    @property
    def rows(self) -> list[list[str]]:
        """The words of each line below a table's head."""
        return [line.split() for line in self.lines[1:]]


@dataclass(frozen=True)
class Kubectl:
    """Calls kubectl; `kubectl("get", "pods")` asserts that it succeeds, `kubectl.fails(...)` that it does not."""

    program: str
    kubeconfig: Path
    home: Path
    """Where kubectl keeps what it learned of the server."""
    namespace: str = "default"

    def __call__(self, *arguments: str, stdin: str | None = None, **environment: str) -> Said:
        said = self.attempt(*arguments, stdin=stdin, **environment)
        assert said.status == 0, f"kubectl {' '.join(arguments)} ended with {said.status}: {said.err}"
        return said

    def fails(self, *arguments: str, stdin: str | None = None, **environment: str) -> str:
        """What kubectl has to say when it fails, as it must here."""
        said = self.attempt(*arguments, stdin=stdin, **environment)
        assert said.status != 0, f"kubectl {' '.join(arguments)} succeeded: {said.out}"
        return said.err.strip()

    def attempt(self, *arguments: str, stdin: str | None = None, **environment: str) -> Said:
        done = subprocess.run(
            self._command(*arguments),
            input=stdin if stdin is not None else "",
            capture_output=True,
            text=True,
            env=self._environment(environment),
            timeout=PATIENCE_SECONDS,
            check=False,
        )
        return Said(done.returncode, done.stdout, done.stderr)

    def json(self, *arguments: str, stdin: str | None = None) -> Any:
        """The object or list that a command prints with -o json."""
        return json.loads(self(*arguments, "-o", "json", stdin=stdin).out)

    def create(self, *wanted: Mapping[str, Any]) -> None:
        self("create", "-f", "-", stdin=documents(*wanted))

    def inside(self, namespace: str) -> Kubectl:
        return replace(self, namespace=namespace)

    @contextmanager
    def running(self, *arguments: str) -> Iterator[TextIO]:
        """What a command that does not end by itself prints, while it runs."""
        with subprocess.Popen(
            self._command(*arguments),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=self._environment({}),
        ) as process:
            assert process.stdout is not None
            try:
                yield process.stdout
            finally:
                process.terminate()

    def _command(self, *arguments: str) -> list[str]:
        return [self.program, "--kubeconfig", str(self.kubeconfig), "--namespace", self.namespace, *arguments]

    def _environment(self, more: Mapping[str, str]) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("KUBE")}
        return {**kept, "HOME": str(self.home), "KUBECACHEDIR": str(self.home / "cache"), **more}


def documents(*wanted: Mapping[str, Any]) -> str:
    """Objects as one stream, as `kubectl -f -` reads them."""
    return "\n".join(json.dumps(each) for each in wanted)
