"""`hardpoint run` as a user runs it: a process of its own, with the files that tell an API server of its webhooks."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PATIENCE_SECONDS = 30


@contextmanager
def running_extensions(folder: Path, *targets: str, **environ: str) -> Iterator[Path]:
    """Run these targets. Yields the folder with a file for each webhook; what they print is in `folder/printed`."""
    configs, log = folder / "configs", folder / "log"
    command = [sys.executable, "-m", "hardpoint.cli", "run", *targets, "--port", "0"]
    command += ["--write-config", str(configs), "--cert-dir", str(folder / "pki")]
    environment = {**os.environ, **environ}
    with (
        log.open("w") as err,
        (folder / "printed").open("w") as out,
        subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=environment) as process,
    ):
        try:
            _wait_until_announced(process, log)
            yield configs
        finally:
            process.terminate()
            status = process.wait(timeout=PATIENCE_SECONDS)
    assert status == 0, log.read_text()
    assert "Traceback" not in log.read_text(), log.read_text()


def _wait_until_announced(process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while "Tell an API server" not in log.read_text():
        assert process.poll() is None, log.read_text()
        assert time.monotonic() < deadline, log.read_text()
        time.sleep(0.02)
