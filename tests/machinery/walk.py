"""An object's walk through the pure machinery: decoded, defaulted, prepared, judged. No server, no store."""

from __future__ import annotations

from copy import deepcopy
from functools import cache
from typing import Any

from hardpoint.machinery import defaults, kinds, strategies, validation
from hardpoint.machinery.kinds import Kind
from hardpoint.machinery.shapes import shape

Json = dict[str, Any]

GONE = object()
"""As a changed field's value: take the field away."""


@cache
def kind_of(api_version: str, name: str) -> Kind:
    return next(kind for kind in kinds.builtin() if (kind.api_version, kind.kind) == (api_version, name))


def changed(body: Json, path: str, value: Any) -> Json:
    """A copy of `body` with the field at a dotted path (`spec.ports.0.port`) set, or taken away."""
    copy = deepcopy(body)
    *parents, last = path.split(".")
    holder: Any = copy
    for step in parents:
        holder = holder[int(step)] if isinstance(holder, list) else holder.setdefault(step, {})
    key: Any = int(last) if isinstance(holder, list) else last
    if value is GONE:
        del holder[key]
    else:
        holder[key] = deepcopy(value)
    return copy


def written(body: Json) -> Json:
    """What a client's body is when it reaches validation."""
    kind = kind_of(body["apiVersion"], body["kind"])
    obj: Json = shape(kind.api_version, kind.kind).decode(deepcopy(body)).object
    if kind.namespaced:
        obj["metadata"].setdefault("namespace", "default")
    defaults.apply(kind, obj)
    strategies.prepare_create(kind, obj)
    return obj


def complaints(body: Json) -> list[str]:
    """Everything told about creating `body`."""
    kind = kind_of(body["apiVersion"], body["kind"])
    return [str(error) for error in validation.on_create(kind, written(body))]


def warnings(body: Json) -> list[str]:
    return strategies.warn_create(kind_of(body["apiVersion"], body["kind"]), written(body))


def replaced(body: Json, old: Json) -> tuple[Json, list[str]]:
    """What replacing the stored `old` by `body` leaves, and everything told about it."""
    kind = kind_of(body["apiVersion"], body["kind"])
    before = written(old)
    before["metadata"]["resourceVersion"] = "1"
    obj: Json = shape(kind.api_version, kind.kind).decode(deepcopy(body)).object
    if kind.namespaced:
        obj["metadata"].setdefault("namespace", "default")
    obj["metadata"]["resourceVersion"] = "1"
    defaults.apply(kind, obj)
    if "status" in before:
        obj["status"] = deepcopy(before["status"])
    strategies.prepare_update(kind, obj, before)
    return obj, [str(error) for error in validation.on_update(kind, obj, before)]
