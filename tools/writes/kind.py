"""A kind that is written: where it is found, and what its objects may look like in each of its versions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tools.differ.servers import NAMESPACE
from tools.writes.drawing import Draw


@dataclass(frozen=True, slots=True)
class Written:
    """One kind. `bodies` and `status` draw what an object has beside its metadata, by apiVersion."""

    plural: str
    kind: str
    bodies: Mapping[str, Draw]
    status: Mapping[str, Draw] = field(default_factory=dict)
    namespaced: bool = True
    has_scale: bool = False
    definition: dict[str, Any] | None = None
    """What must be defined before, if this is a custom resource."""

    @property
    def is_custom(self) -> bool:
        return self.definition is not None

    def collection(self, api_version: str) -> str:
        prefix = f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"
        return f"{prefix}/namespaces/{NAMESPACE}/{self.plural}" if self.namespaced else f"{prefix}/{self.plural}"


def core(plural: str, kind: str, body: Draw, status: Draw | None = None) -> Written:
    """A kind of the core group."""
    return Written(plural, kind, {"v1": body}, {"v1": status} if status else {})
