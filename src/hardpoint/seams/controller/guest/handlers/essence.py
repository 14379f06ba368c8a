"""What of an object counts when one asks whether it changed, and how that is told by a digest.

Not its status, which controllers write, nor what the server counts or others keep books of in its metadata: of that,
labels and annotations are what users say.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import orjson

from hardpoint.runtime.transforms import LAST_APPLIED

Json = dict[str, Any]
Path = tuple[str, ...]

ANNOTATION = "last-handled"
"""The name, after a prefix of each App's own, of the annotation that says what was handled."""
_LEFT_OUT = frozenset({"apiVersion", "kind", "metadata", "status"})
_DIGEST_BYTES = 12


def essence(body: Json) -> Json:
    """The part of an object that users write."""
    said = {field: value for field, value in body.items() if field not in _LEFT_OUT}
    metadata = {"labels": body["metadata"].get("labels"), "annotations": users_annotations(body)}
    kept = {field: value for field, value in metadata.items() if value}
    return {"metadata": kept, **said} if kept else said


def value_at(body: Json, path: Path) -> Any:
    """The value of a field, None where there is none; of the empty path, the essence."""
    if not path:
        return essence(body)
    value: Any = {**body, "metadata": {**body["metadata"], "annotations": users_annotations(body)}}
    for step in path:
        value = value.get(step) if isinstance(value, dict) else None
    return value


def users_annotations(body: Json) -> dict[str, str]:
    """The annotations that are nobody's bookkeeping."""
    there = body["metadata"].get("annotations") or {}
    return {name: text for name, text in there.items() if name != LAST_APPLIED and not _is_progress(name)}


def digest(value: Any) -> str:
    """The same text for the same JSON, and for no other."""
    return blake2b(orjson.dumps(value, option=orjson.OPT_SORT_KEYS), digest_size=_DIGEST_BYTES).hexdigest()


def _is_progress(name: str) -> bool:
    """Whether it is what some App remembers: two of them must not wake each other for ever."""
    return name.endswith(f"/{ANNOTATION}")
