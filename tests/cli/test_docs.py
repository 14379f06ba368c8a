"""The documents are true: every flag is in them, no other is, and their program runs."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

from hardpoint.cli import COMMANDS

DOCS = Path(__file__).parents[2] / "docs"
REFERENCE = (DOCS / "reference" / "cli.md").read_text()
GUIDE = (DOCS / "guides" / "embedded-cluster.md").read_text()


def section(command: str) -> str:
    found = re.search(rf"^## {command}\b.*?(?=^## |\Z)", REFERENCE, re.MULTILINE | re.DOTALL)
    assert found, f"docs/reference/cli.md has no section {command}"
    return found[0]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_flag_is_documented_and_no_other(name: str) -> None:
    command: click.Command = importlib.import_module(f"hardpoint.cli.{name.replace('-', '_')}").command
    flags = {
        flag
        for parameter in command.params
        for flag in (*parameter.opts, *parameter.secondary_opts)
        if flag.startswith("--")
    }
    assert set(re.findall(r"--[a-z][a-z-]+", section(name))) == flags


def test_the_guides_program_runs(tmp_path: Path) -> None:
    programs = re.findall(r"^```python\n(.*?)^```", GUIDE, re.MULTILINE | re.DOTALL)
    assert len(programs) == 1
    done = subprocess.run(
        [sys.executable, "-c", programs[0]], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True
    )
    assert "kube-system" in done.stdout
