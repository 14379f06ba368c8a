"""The objects everything starts from: `bases/*.yaml`, several of each kind.

An object may say `parts`, which is ours and never sent: the bodies of its subresources, by name. For `status` it is
only what stands under that name, for others the whole body.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from hardpoint.machinery import kinds
from hardpoint.machinery.kinds import Kind
from tools.differ.servers import NAMESPACE

FOLDER = Path(__file__).parent / "bases"


@dataclass(frozen=True, slots=True)
class Base:
    """One object, where it belongs, and bodies for its subresources."""

    kind: Kind
    body: dict[str, Any]
    parts: dict[str, Any]

    @property
    def collection(self) -> str:
        kind = self.kind
        prefix = f"/apis/{kind.group}/{kind.version}" if kind.group else f"/api/{kind.version}"
        place = f"/namespaces/{NAMESPACE}" if kind.namespaced else ""
        return f"{prefix}{place}/{kind.plural}"

    @property
    def path(self) -> str:
        return f"{self.collection}/{self.body['metadata']['name']}"


def read(folder: Path = FOLDER) -> list[Base]:
    """Every base, file by file. Raises ValueError where a kind is not known."""
    return [
        _base(file, document)
        for file in sorted(folder.glob("*.yaml"))
        for document in yaml.load_all(file.read_bytes(), yaml.CSafeLoader)
    ]


def _base(file: Path, document: dict[str, Any]) -> Base:
    parts = document.pop("parts", {})
    said = (document.get("apiVersion"), document.get("kind"))
    for kind in kinds.builtin():
        if (kind.api_version, kind.kind) == said:
            return Base(kind, document, parts)
    raise ValueError(f"{file}: no kind {said[1]!r} in {said[0]!r}")
