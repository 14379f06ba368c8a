"""What a kind's status is before anybody has written one."""

from __future__ import annotations

from copy import deepcopy
from functools import cache
from typing import Any

from hardpoint.machinery.kinds import Kind
from hardpoint.machinery.shapes import shape

Json = dict[str, Any]


def zero_status(kind: Kind) -> Json:
    """A new, empty status, with the zeros that Go would write."""
    return deepcopy(_zero(kind.api_version, kind.kind))


@cache
def _zero(api_version: str, kind: str) -> Json:
    empty = shape(api_version, kind).decode({"apiVersion": api_version, "kind": kind}).object
    status: Json = empty.get("status", {})
    return status
