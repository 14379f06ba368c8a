"""Where a custom resource keeps its replicas, and what may stand there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from hardpoint.machinery.errors import HardpointError
from hardpoint.machinery.fielderrors import FieldError, invalid
from hardpoint.machinery.shapes.refusals import json_type

Json = dict[str, Any]

REPLICAS_MAX = 2**31 - 1
_GO_TYPES = {"object": "map[string]interface {}", "array": "[]interface {}", "number": "float64"}


class Misplaced(HardpointError):
    """Something else stands where replicas or a selector should; the message is Go's."""


@dataclass(frozen=True, slots=True)
class Scale:
    """The paths a definition's `subresources.scale` names, such as `.spec.replicas`."""

    replicas: str
    status_replicas: str
    selector: str = ""

    def wanted(self, obj: Json) -> int | None:
        """How many replicas are asked for, or None if nothing is said. Raises Misplaced."""
        return _integer(obj, self.replicas)

    def present(self, obj: Json) -> int:
        return _integer(obj, self.status_replicas) or 0

    def selector_text(self, obj: Json) -> str:
        found = _at(obj, self.selector) if self.selector else None
        if found is not None and not isinstance(found, str):
            raise Misplaced(_accessor_error(self.selector, found, "string"))
        return found or ""

    def set_wanted(self, obj: Json, replicas: int) -> None:
        """Ask for so many replicas, in place. Raises Misplaced."""
        *parents, last = _steps(self.replicas)
        for number, name in enumerate(parents):
            inner = obj.setdefault(name, {})
            if not isinstance(inner, dict):
                path = "." + ".".join(parents[: number + 1])
                raise Misplaced(f"value cannot be set because {path} is not a map[string]interface{{}}")
            obj = inner
        obj[last] = replicas

    def problems(self, obj: Json, *, status_only: bool = False) -> Iterator[FieldError]:
        """What is wrong with what stands at the paths."""
        for path in (self.status_replicas,) if status_only else (self.replicas, self.status_replicas):
            try:
                count = _integer(obj, path) or 0
            except Misplaced as wrong:
                yield invalid(path, 0, str(wrong))
                continue
            if count < 0:
                yield invalid(path, count, "should be a non-negative integer")
            elif count > REPLICAS_MAX:
                yield invalid(path, count, f"should be less than or equal to {REPLICAS_MAX}")
        try:
            self.selector_text(obj)
        except Misplaced as wrong:
            yield invalid(self.selector, "", str(wrong))


def _steps(path: str) -> list[str]:
    return path.removeprefix(".").split(".")


def _integer(obj: Json, path: str) -> int | None:
    found = _at(obj, path)
    if found is None or (isinstance(found, int) and not isinstance(found, bool)):
        return found
    raise Misplaced(_accessor_error(path, found, "int64"))


def _at(obj: Any, path: str) -> Any:
    steps = _steps(path)
    for number, name in enumerate(steps):
        if not isinstance(obj, dict):
            raise Misplaced(_accessor_error("." + ".".join(steps[: number + 1]), obj, "map[string]interface{}"))
        if name not in obj:
            return None
        obj = obj[name]
    return obj


def _accessor_error(path: str, found: Any, wanted: str) -> str:
    actual = json_type(found)
    kind = "int64" if isinstance(found, int) and actual == "number" else _GO_TYPES.get(actual, actual)
    shown = (
        {None: "<nil>", True: "true", False: "false"}.get(found, found) if not isinstance(found, dict | list) else found
    )
    return f"{path} accessor error: {shown} is of the type {kind}, expected {wanted}"
