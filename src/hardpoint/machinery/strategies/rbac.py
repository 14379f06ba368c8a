"""What happens to roles on their way in."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]


def _role(obj: Json, old: Json | None = None) -> None:
    """The wire format of stored roles knows no empty list, only none."""
    obj["rules"] = obj.get("rules") or None


CREATE = {"Role": _role, "ClusterRole": _role}
UPDATE = CREATE
