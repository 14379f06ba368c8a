"""The documents of all built-in kinds, and the recorded ones."""

from __future__ import annotations

import json
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from hardpoint.apiserver.openapi.documents import document
from hardpoint.machinery import kinds

Json = dict[str, Any]


@pytest.fixture(scope="session")
def documents() -> dict[str, Json]:
    """Every built-in document by its path."""
    by_version = groupby(kinds.builtin(), key=lambda kind: kind.api_version)
    made = {name: list(members) for name, members in by_version}
    return {
        f"apis/{name}" if "/" in name else f"api/{name}": document(members[0].group, members[0].version, members, {})
        for name, members in made.items()
    }


@pytest.fixture(scope="session")
def recorded(reference: Path) -> dict[str, dict[str, Json]]:
    """The recorded schemas of each document, by the document's path."""
    folder = reference / "openapi/v3"
    paths = json.loads((folder / "index.json").read_text())["paths"]
    files = {path: folder / f"{path.replace('/', '.')}.json" for path in paths}
    return {
        path: json.loads(file.read_text())["components"]["schemas"] for path, file in files.items() if file.exists()
    }
