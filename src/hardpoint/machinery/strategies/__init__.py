"""What the server does to an object just before it is validated: reset what clients may not set, derive the rest.

Each module exports `CREATE`, from Kind to a function of the new object, and `UPDATE`, of the new and the old object;
both change the new object in place. Once the object is valid two more tables are asked, where a module has them:
`WARN_CREATE` and `WARN_UPDATE`, functions of the same arguments, return what is legal but unwise and is told to the
client as Warning headers; `CANONICAL` changes a new object into the form in which it is stored. A module is imported
when the first object of such a kind arrives.
"""

from __future__ import annotations

from typing import Any

from hardpoint.machinery.areas import rule
from hardpoint.machinery.kinds import Kind

Json = dict[str, Any]


def prepare_create(kind: Kind, obj: Json) -> None:
    """Make `obj`, whose namespace and uid are set, what a new object of its kind may be."""
    prepare = rule("strategies", "CREATE", kind)
    if prepare is not None:
        prepare(obj)


def prepare_update(kind: Kind, obj: Json, old: Json) -> None:
    """Undo in `obj` what an update may not change, and derive what follows from its changes."""
    prepare = rule("strategies", "UPDATE", kind)
    if prepare is not None:
        prepare(obj, old)


def warn_create(kind: Kind, obj: Json) -> list[str]:
    """What is legal but unwise in a new object that passed validation."""
    warn = rule("strategies", "WARN_CREATE", kind)
    return warn(obj) if warn is not None else []


def warn_update(kind: Kind, obj: Json, old: Json) -> list[str]:
    """What is legal but unwise in replacing `old` by `obj`."""
    warn = rule("strategies", "WARN_UPDATE", kind)
    return warn(obj, old) if warn is not None else []


def canonicalize(kind: Kind, obj: Json) -> None:
    """Give a new object that passed validation the form in which it is stored."""
    change = rule("strategies", "CANONICAL", kind)
    if change is not None:
        change(obj)
