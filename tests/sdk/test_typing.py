"""The type checker tells an author what is wrong, and nothing else."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

FILE = Path(__file__).with_name("authored_rightly.py")


def test_the_type_checker_finds_what_is_wrong_and_nothing_else(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--cache-dir", str(tmp_path), str(FILE)]
    said = subprocess.run(command, capture_output=True, text=True, timeout=110, check=False, cwd=FILE.parents[2]).stdout
    found = {int(line) for line in re.findall(r"authored_rightly.py:(\d+): error", said)}
    lines = FILE.read_text().splitlines()
    assert found == {number for number, line in enumerate(lines, 1) if "# wrong" in line}, said
