"""Whether a value fits a schema: yes or no, as fast as it goes.

A check is made of closures, one for each class of value the schema lets in. It knows no paths and no words: who is
told no asks `explained`, whose verdict counts. Both must agree, which the tests hold them to.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hardpoint.machinery import patience
from hardpoint.machinery.structural import patterns, values
from hardpoint.machinery.structural.keywords import INT_OR_STRING

Json = dict[str, Any]
Check = Callable[[Any], bool]

_BRANCH_STEPS = 4
_COMPILED_STEPS = 300
_EVERYTHING = (str, int, float, bool, list, dict)
_CLASSES: Mapping[str, tuple[type, ...]] = {
    "array": (list,),
    "boolean": (bool,),
    "integer": (int, float),
    "number": (int, float),
    "object": (dict,),
    "string": (str,),
}


def check(schema: Json) -> Check:
    """The check of a schema."""
    patience.spend(_COMPILED_STEPS)
    by_class = _by_class(schema)
    logic = _logic(schema)
    enum = values.enum_check(schema["enum"]) if schema.get("enum") else None
    if _takes_null(schema):
        by_class[type(None)] = _yes
    find = by_class.get
    if logic is None and enum is None:

        def fits(value: Any) -> bool:
            constraint = find(value.__class__)
            return constraint is not None and constraint(value)

        return fits

    def fits_all(value: Any) -> bool:
        constraint = find(value.__class__)
        if constraint is None or not constraint(value):
            return False
        if enum is not None and not enum(value):
            return False
        # kube-apiserver does not ask the rest about null.
        return logic is None or value is None or logic(value)

    return fits_all


def _takes_null(schema: Json) -> bool:
    """An enum never takes null, not even if it lists it."""
    return not schema.get("enum") and bool(schema.get("nullable") or not _types(schema))


def _types(schema: Json) -> tuple[str, ...]:
    if schema.get(INT_OR_STRING):
        return ("integer", "string")
    return (schema["type"],) if schema.get("type") else ()


def _by_class(schema: Json) -> dict[type, Check]:
    types = _types(schema)
    classes = [each for name in types for each in _CLASSES.get(name, ())] if types else _EVERYTHING
    found = {each: _constraint(each, schema) for each in classes}
    if "integer" in types and "number" not in types:
        whole = found[float]
        found[float] = lambda value: values.is_whole(value) and whole(value)
    if types == ("string",) and values.string_format(schema) is not None:
        # kube-openapi takes a list for a string of a known format.
        found[list] = _array(schema)
    return found


def _constraint(each: type, schema: Json) -> Check:
    if each is str:
        return _string(schema)
    if each is int or each is float:
        return _number(schema)
    if each is list:
        return _array(schema)
    return _object(schema) if each is dict else _yes


def _yes(_: Any) -> bool:
    return True


def _string(schema: Json) -> Check:
    most, least = schema.get("maxLength"), schema.get("minLength")
    pattern = schema.get("pattern", "")
    has_format = values.string_format(schema)
    if most is None and least is None and not pattern and has_format is None:
        return _yes

    def fits(value: str) -> bool:
        if most is not None and len(value) > most:
            return False
        if least is not None and len(value) < least:
            return False
        if pattern and not patterns.matches(pattern, value):
            return False
        return has_format is None or has_format(value)

    return fits


def _number(schema: Json) -> Check:
    limit = values.range_of(schema)
    if limit is None:
        return lambda value: not any(values.number_problems("", "", value, schema))
    return lambda value: -limit <= value < limit


def _array(schema: Json) -> Check:
    items, most, least = schema.get("items"), schema.get("maxItems"), schema.get("minItems")
    each = check(items) if isinstance(items, dict) else None

    def fits(value: list[Any]) -> bool:
        patience.spend(len(value))
        if most is not None and len(value) > most:
            return False
        if least is not None and len(value) < least:
            return False
        return each is None or all(map(each, value))

    return fits


def _object(schema: Json) -> Check:
    required: list[str] = schema.get("required") or []
    most, least = schema.get("maxProperties"), schema.get("minProperties")
    known: dict[str, Check] = {}
    for name, child in (schema.get("properties") or {}).items():
        known[name] = _compiled_later(known, name, child)
    additional = schema.get("additionalProperties")
    other: Check = _yes
    if isinstance(additional, dict):
        other = check(additional)
    elif additional is False:
        other = _no

    def fits(value: Json) -> bool:
        for name in required:
            if name not in value:
                return False
        for name, item in value.items():
            if not known.get(name, other)(item):
                return False
        return (most is None or len(value) <= most) and (least is None or len(value) >= least)

    return fits


def _no(_: Any) -> bool:
    return False


def _compiled_later(known: dict[str, Check], name: str, schema: Json) -> Check:
    """A check that replaces itself in `known` on its first call: most fields of large schemas are never used."""

    def compile_now(value: Any) -> bool:
        known[name] = made = check(schema)
        return made(value)

    return compile_now


def _logic(schema: Json) -> Check | None:
    if not any(schema.get(word) is not None for word in ("allOf", "anyOf", "oneOf", "not")):
        return None
    all_of = [check(branch) for branch in schema.get("allOf") or ()]
    any_of = [check(branch) for branch in schema.get("anyOf") or ()]
    one_of = [check(branch) for branch in schema.get("oneOf") or ()]
    forbidden = check(schema["not"]) if schema.get("not") is not None else None
    steps = _BRANCH_STEPS * (1 + len(all_of) + len(any_of) + len(one_of))

    def fits(value: Any) -> bool:
        patience.spend(steps)
        if any_of and not any(branch(value) for branch in any_of):
            return False
        if one_of and sum(branch(value) for branch in one_of) != 1:
            return False
        if not all(branch(value) for branch in all_of):
            return False
        return forbidden is None or not forbidden(value)

    return fits
