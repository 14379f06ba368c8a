"""What a command imports before it has done anything: a start is judged by it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.cli.conftest import Home

HEAVY = {"asyncio", "uvloop", "ssl", "cryptography", "yaml", "apsw", "httptools", "grpc", "urllib.request"}


def imported(home: Home, *arguments: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "hardpoint.cli", *arguments],
        env=home.environment,
        cwd=home.path,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    log = home.data / "hardpoint.log"
    lines = done.stderr.splitlines() + (log.read_text().splitlines() if log.exists() else [])
    return {line.rpartition("|")[2].strip() for line in lines if line.startswith("import time:")}


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["up", "--help"], ["down"]], ids=" ".join)
def test_light_commands_are_light(home: Home, arguments: list[str]) -> None:
    assert imported(home, *arguments) & HEAVY == set()


def test_a_second_start_makes_no_certificates_and_speaks_to_no_etcd(home: Home) -> None:
    home.up()
    home.run("down")
    found = imported(home, "up", "--detach", "--port", "0")
    assert "uvloop" in found
    assert found & {"cryptography", "grpc", "google.protobuf"} == set()
