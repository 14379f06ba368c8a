"""The annotation in which client-side apply keeps what it applied last, and how server-side apply takes over from it.

Only `kubectl` moves from the one to the other: it may overwrite what the annotation says it applied itself, and keeps
the annotation up to date, so that both ways of applying can be mixed.
"""

from __future__ import annotations

from typing import Any

import orjson

from hardpoint.machinery.apply.checking import Unfit, check
from hardpoint.machinery.apply.claims import claims
from hardpoint.machinery.apply.comparing import compare
from hardpoint.machinery.apply.fieldsets import FieldSet, difference
from hardpoint.machinery.apply.types import Type
from hardpoint.machinery.fielderrors import json_as_go

Json = dict[str, Any]

ANNOTATION = "kubectl.kubernetes.io/last-applied-configuration"
MANAGER = "kubectl"
ANNOTATIONS_SIZE_MAX = 256 * 1024


def applied_by_client(kind: Type, live: Json, api_version: str) -> FieldSet:
    """The fields of a live object that still are as client-side apply left them."""
    last = _last_applied(live)
    if last is None or last.get("apiVersion") != api_version:
        return {}
    try:
        check(kind, last)
    except Unfit:
        return {}
    return difference(claims(kind, last), compare(kind, last, live).changed)


def _last_applied(live: Json) -> Json | None:
    text = (live["metadata"].get("annotations") or {}).get(ANNOTATION)
    try:
        last = orjson.loads(text or "")
    except orjson.JSONDecodeError:
        return None
    return last if isinstance(last, dict) else None


def keep_up(obj: Json, config: Json) -> None:
    """Write what was applied into the annotation, if there is one and it fits in."""
    annotations = obj["metadata"].get("annotations") or {}
    if not annotations.get(ANNOTATION):
        return
    written = {**annotations, ANNOTATION: _as_annotation(config)}
    if sum(len(name.encode()) + len(value.encode()) for name, value in written.items()) > ANNOTATIONS_SIZE_MAX:
        del written[ANNOTATION]
    obj["metadata"]["annotations"] = written


def _as_annotation(config: Json) -> str:
    metadata = dict(config.get("metadata") or {})
    if metadata.get("annotations"):
        metadata["annotations"] = {name: value for name, value in metadata["annotations"].items() if name != ANNOTATION}
    return json_as_go({**config, "metadata": metadata}, orjson.OPT_SORT_KEYS) + "\n"
