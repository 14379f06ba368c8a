"""Defaults of PriorityClass."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]


def _priority_class(obj: Json) -> None:
    obj.setdefault("preemptionPolicy", "PreemptLowerPriority")


DEFAULTS = {"PriorityClass": _priority_class}
