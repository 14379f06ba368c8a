"""Objects inside objects, `x-kubernetes-embedded-resource`, whose apiVersion, kind and metadata are like any object's.

Follows apiextensions' schema/objectmeta. `coerce` is for bodies that are being decoded, `problems` for objects that
are being validated.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from hardpoint.machinery import names, shapes
from hardpoint.machinery.fielderrors import FieldError, at, invalid, required, under
from hardpoint.machinery.shapes.refusals import TypeMismatch
from hardpoint.machinery.structural.keywords import EMBEDDED
from hardpoint.machinery.validation import metadata as metadata_rules

Json = dict[str, Any]

_OBJECT_META = "apimachinery.pkg.apis.meta.v1.ObjectMeta"


@cache
def object_meta() -> shapes.Shape:
    """The Go type of every object's metadata."""
    return shapes.named(_OBJECT_META)


def coerce(obj: Json, strange: list[str]) -> None:
    """Decode the embedded metadata in place. Raises TypeMismatch, whose words `refusal` makes whole."""
    for name in ("apiVersion", "kind"):
        if name in obj and not isinstance(obj[name], str):
            raise TypeMismatch("must be a string")
    if "metadata" in obj:
        decoded = object_meta().decode(obj["metadata"])
        strange.extend(decoded.unknown)
        obj["metadata"] = {name: value for name, value in decoded.object.items() if value is not None}


def refusal(schema: Json, value: Any, path: str = "") -> str:
    """Why `coerce` refused something in `value`, with its path; "" if it did not."""
    if isinstance(value, dict):
        if schema.get(EMBEDDED) and (told := _refusal(value, path)):
            return told
        below = [(child, item, _step(schema, path, key)) for key, item, child in _children(schema, value)]
    elif isinstance(value, list) and isinstance(schema.get("items"), dict):
        below = [(schema["items"], item, at(path, index)) for index, item in enumerate(value)]
    else:
        return ""
    return next((told for child, item, place in below if (told := refusal(child, item, place))), "")


def _refusal(obj: Json, path: str) -> str:
    for name in ("apiVersion", "kind"):
        if name in obj and not isinstance(obj[name], str):
            return str(invalid(under(path, name), obj[name], "must be a string"))
    if "metadata" in obj:
        try:
            object_meta().decode(obj["metadata"])
        except TypeMismatch as wrong:
            return str(invalid(under(path, "metadata"), obj["metadata"], str(wrong)))
    return ""


def problems(schema: Json, value: Any, path: str = "") -> Iterator[FieldError]:
    """What is wrong with the embedded objects in `value`."""
    if isinstance(value, dict):
        if schema.get(EMBEDDED):
            yield from _problems(value, path)
        for key, item, child in _children(schema, value):
            yield from problems(child, item, _step(schema, path, key))
    elif isinstance(value, list) and isinstance(schema.get("items"), dict):
        for index, item in enumerate(value):
            yield from problems(schema["items"], item, at(path, index))


def _problems(obj: Json, path: str) -> Iterator[FieldError]:
    for name in ("apiVersion", "kind"):
        if name not in obj:
            yield required(under(path, name))
        elif not isinstance(obj[name], str):
            yield invalid(under(path, name), obj[name], "must be a string")
        elif not obj[name]:
            yield invalid(under(path, name), obj[name], "must not be empty")
    version, kind = (value if isinstance(value := obj.get(name), str) else "" for name in ("apiVersion", "kind"))
    if version.count("/") > 1:
        yield invalid(under(path, "apiVersion"), version, f"unexpected GroupVersion string: {version}")
    if kind and (wrong := names.dns_1035_label(kind.lower())):
        told = f"may have mixed case, but should otherwise match: {','.join(wrong)}"
        yield invalid(under(path, "kind"), kind, told)
    if isinstance(obj.get("metadata"), dict):
        yield from _metadata_problems(obj["metadata"], under(path, "metadata"))


def _metadata_problems(metadata: Json, path: str) -> Iterator[FieldError]:
    """What was applied is not decoded yet."""
    try:
        decoded = object_meta().decode(metadata).object
    except TypeMismatch as wrong:
        yield invalid(path, metadata, str(wrong))
        return
    yield from metadata_rules.of_embedded(decoded, path)


def _children(schema: Json, value: Json) -> Iterator[tuple[str, Any, Json]]:
    properties = schema.get("properties") or {}
    additional = schema.get("additionalProperties")
    for key, item in value.items():
        child = properties.get(key, additional)
        if isinstance(child, dict):
            yield key, item, child


def _step(schema: Json, path: str, key: str) -> str:
    """Fields are reached by a dot, entries of a map by brackets."""
    return under(path, key) if key in (schema.get("properties") or {}) else at(path, key=key)
