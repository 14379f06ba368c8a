"""What becomes of an object before it is kept: mostly less.

A transform gets an object of its own and may change it. It must leave what says which object it is: apiVersion, kind,
and of the metadata name, namespace, uid, resourceVersion.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Json = dict[str, Any]
Transform = Callable[[Json], Json]

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def unchanged(found: Json) -> Json:
    """All of it."""
    return found


def without_managed_fields(found: Json) -> Json:
    """All but who manages which field: often half of an object, and hardly ever read by a controller."""
    found["metadata"].pop("managedFields", None)
    return found


def without_bookkeeping(found: Json) -> Json:
    """All but the notes of those who write it: managed fields, and what kubectl remembers to have applied."""
    metadata = without_managed_fields(found)["metadata"]
    annotations = metadata.get("annotations")
    if annotations and annotations.pop(LAST_APPLIED, None) is not None and not annotations:
        del metadata["annotations"]
    return found


def metadata_only(found: Json) -> Json:
    """Which object it is and what is said about it, and nothing that it says.

    Where the server can be asked for as much, `Informers.get(..., metadata_only=True)` saves the way too.
    """
    kept: Json = {name: found[name] for name in ("apiVersion", "kind", "metadata") if name in found}
    return without_managed_fields(kept)


def identity(found: Json) -> Json:
    """Which object it is, how old, and whether it goes: no more than plain texts and numbers."""
    metadata = {name: value for name, value in found["metadata"].items() if isinstance(value, str | int)}
    named = {name: found[name] for name in ("apiVersion", "kind") if isinstance(found.get(name), str)}
    return {**named, "metadata": metadata}
