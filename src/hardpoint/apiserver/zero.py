"""What a kind's status is before anybody has written one."""

from __future__ import annotations

from copy import deepcopy
from functools import cache
from typing import Any

from hardpoint.machinery.kinds import Kind
from hardpoint.machinery.shapes import shape

Json = dict[str, Any]


def reset_status(kind: Kind, obj: Json) -> None:
    """Give an object an empty status with the zeros that Go would write; custom resources have none at first."""
    if kind.structure is None:
        obj["status"] = deepcopy(_zero(kind.api_version, kind.kind))
    else:
        obj.pop("status", None)


@cache
def _zero(api_version: str, kind: str) -> Json:
    empty = shape(api_version, kind).decode({"apiVersion": api_version, "kind": kind}).object
    status: Json = empty.get("status", {})
    return status
