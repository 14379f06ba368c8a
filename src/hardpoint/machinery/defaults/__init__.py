"""What the server fills in where a client says nothing, kind by kind.

Each module exports `DEFAULTS`, from Kind to a function that completes a decoded object in place. It is imported when
the first object of such a kind arrives. Functions see objects as `shapes` decodes them: absent means nil or zero.
"""

from __future__ import annotations

from typing import Any

from hardpoint.machinery.areas import rule
from hardpoint.machinery.kinds import Kind

Json = dict[str, Any]


def apply(kind: Kind, obj: Json) -> None:
    """Complete `obj` in place. Kinds without defaults stay as they are."""
    complete = rule("defaults", "DEFAULTS", kind)
    if complete is not None:
        complete(obj)
