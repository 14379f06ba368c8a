"""The type checker tells an author what is wrong, and nothing else."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

FILES = [
    Path(__file__).with_name(name) for name in ("authored_rightly.py", "handlers_rightly.py", "resources_rightly.py")
]


def test_the_type_checker_finds_what_is_wrong_and_nothing_else(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--cache-dir", str(tmp_path)]
    done = subprocess.run(
        [*command, *map(str, FILES)], capture_output=True, text=True, timeout=110, check=False, cwd=FILES[0].parents[2]
    )
    found = {
        (Path(file).name, int(line)) for file, line in re.findall(r"^(\S+):(\d+): error", done.stdout, re.MULTILINE)
    }
    assert found == {
        (file.name, number)
        for file in FILES
        for number, line in enumerate(file.read_text().splitlines(), 1)
        if "# wrong" in line
    }, done.stdout
