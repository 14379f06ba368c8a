"""Programs for a kubeconfig's `exec` section, written for a test."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

GROUP = "client.authentication.k8s.io"


def script(folder: Path, body: str, name: str = "plugin") -> Path:
    """An executable Python program."""
    file = folder / name
    file.write_text(f"#!{sys.executable} -IS\nimport json, os, sys, time\n{body}\n")
    file.chmod(0o755)
    return file


def printing(folder: Path, *, name: str = "plugin", **status: Any) -> Path:
    """Prints a credential with this status, in the version it is asked in, and counts its runs in `NAME.runs`."""
    return script(
        folder,
        f"""
told = json.loads(os.environ["KUBERNETES_EXEC_INFO"])
with open({str(folder / f"{name}.runs")!r}, "a") as runs:
    runs.write(json.dumps({{"told": told, "args": sys.argv[1:], "env": os.environ.get("FOO")}}) + "\\n")
print(json.dumps({{"apiVersion": told["apiVersion"], "kind": "ExecCredential", "status": {status!r}}}))
""",
        name,
    )


def runs(folder: Path, name: str = "plugin") -> list[dict[str, Any]]:
    file = folder / f"{name}.runs"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def section(command: Path | str, **more: Any) -> dict[str, Any]:
    return {"apiVersion": f"{GROUP}/v1", "command": str(command), "interactiveMode": "Never", **more}
