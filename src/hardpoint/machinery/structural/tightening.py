"""What a newer schema takes from objects that an older one let in: fields that go, and values that no longer fit.

    for change in tightenings(older, newer):
        print(change.path, change.words)

Only what may hurt is told; whatever is looser than before is not. Whether an object with such a value exists is not
known here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import orjson

from hardpoint.machinery.structural.keywords import INT_OR_STRING, LIST_MAP_KEYS, LIST_TYPE, PRESERVE

Json = dict[str, Any]

RULES = "x-kubernetes-validations"
_LOOSER_TYPES = {("integer", "number"), ("integer", INT_OR_STRING), ("string", INT_OR_STRING)}
_UPPER = ("maximum", "maxLength", "maxItems", "maxProperties")
_LOWER = ("minimum", "minLength", "minItems", "minProperties")
_SAME_OR_NONE: Mapping[str, str] = {
    "pattern": "must match",
    "format": "must have the format",
    "multipleOf": "must be a multiple of",
    "exclusiveMinimum": "excludes its minimum:",
    "exclusiveMaximum": "excludes its maximum:",
    "uniqueItems": "must hold each item once:",
}
"""What may be dropped or stay, but not come or change."""
_LOGIC = ("allOf", "anyOf", "oneOf", "not")


class Tightening(NamedTuple):
    """One thing that objects were allowed and are not any more."""

    path: str
    words: str

    def __str__(self) -> str:
        return f"{self.path or '.'} {self.words}"


def tightenings(older: Json, newer: Json, path: str = "") -> Iterator[Tightening]:
    """Every way in which `newer` is stricter than `older`, or changes what objects mean."""
    for look in (_type, _values, _limits, _lists, _rules):
        yield from look(older, newer, path)
    yield from _fields(older, newer, path)
    for name in ("items", "additionalProperties"):
        before, after = older.get(name), newer.get(name)
        if isinstance(before, dict) and isinstance(after, dict):
            yield from tightenings(before, after, f"{path}[*]")


def _type(older: Json, newer: Json, path: str) -> Iterator[Tightening]:
    before, after = _type_of(older), _type_of(newer)
    if after and before != after and (before, after) not in _LOOSER_TYPES:
        yield Tightening(path, f"was of type {before or 'any'} and is of type {after}")
    if older.get("nullable") and not newer.get("nullable"):
        yield Tightening(path, "may no longer be null")


def _type_of(schema: Json) -> str:
    return INT_OR_STRING if schema.get(INT_OR_STRING) else str(schema.get("type", ""))


def _values(older: Json, newer: Json, path: str) -> Iterator[Tightening]:
    if newer.get("enum"):
        if not older.get("enum"):
            yield Tightening(path, f"may only be one of {_text(newer['enum'])} now")
        else:
            gone = [value for value in older["enum"] if value not in newer["enum"]]
            if gone:
                yield Tightening(path, f"may no longer be {', '.join(map(_text, gone))}")
    for name, words in _SAME_OR_NONE.items():
        if newer.get(name) and newer[name] != older.get(name):
            yield Tightening(path, f"{words} {_text(newer[name])} now")
    if "default" in older and older["default"] != newer.get("default"):
        now = f"has the default {_text(newer['default'])}" if "default" in newer else "has no default"
        yield Tightening(path, f"had the default {_text(older['default'])} and {now}")


def _limits(older: Json, newer: Json, path: str) -> Iterator[Tightening]:
    is_tighter: Mapping[bool, Callable[[float, float], bool]] = {
        True: lambda before, after: after < before,
        False: lambda before, after: after > before,
    }
    for is_upper, names in ((True, _UPPER), (False, _LOWER)):
        for name in names:
            before, after = older.get(name), newer.get(name)
            if after is None or (before is None and not is_upper and after == 0 and name != "minimum"):
                continue
            if before is None:
                yield Tightening(path, f"has the {name} {after} now")
            elif is_tighter[is_upper](before, after):
                yield Tightening(path, f"had the {name} {before} and has {after}")


def _lists(older: Json, newer: Json, path: str) -> Iterator[Tightening]:
    before, after = older.get(LIST_TYPE, "atomic"), newer.get(LIST_TYPE, "atomic")
    if after != before and after != "atomic":
        yield Tightening(path, f"was a list of type {before} and is a {after}: items may not repeat")
    keys = (older.get(LIST_MAP_KEYS) or [], newer.get(LIST_MAP_KEYS) or [])
    if before == after == "map" and keys[0] != keys[1]:
        yield Tightening(path, f"was a map by {', '.join(keys[0])} and is one by {', '.join(keys[1])}")


def _rules(older: Json, newer: Json, path: str) -> Iterator[Tightening]:
    known = {rule.get("rule") for rule in older.get(RULES) or ()}
    for rule in newer.get(RULES) or ():
        if rule.get("rule") not in known:
            yield Tightening(path, f"has a new rule: {rule.get('rule')}")
    for name in _LOGIC:
        if newer.get(name) and newer[name] != older.get(name):
            yield Tightening(path, f"has another {name}: {_text(newer[name])}")


def _fields(older: Json, newer: Json, path: str) -> Iterator[Tightening]:
    before: Json = older.get("properties") or {}
    after: Json = newer.get("properties") or {}
    for name, child in before.items():
        if name in after:
            yield from tightenings(child, after[name], f"{path}.{name}")
        elif not _keeps_anything(newer):
            yield Tightening(f"{path}.{name}", "is gone: what objects say there is dropped")
    for name in newer.get("required") or ():
        if name not in (older.get("required") or ()) and "default" not in (after.get(name) or {}):
            yield Tightening(f"{path}.{name}", "is required now")
    if _keeps_anything(older) and not _keeps_anything(newer):
        yield Tightening(path, "no longer keeps fields that the schema does not name")


def _keeps_anything(schema: Json) -> bool:
    return bool(schema.get(PRESERVE) or schema.get("additionalProperties"))


def _text(value: Any) -> str:
    return orjson.dumps(value).decode()
