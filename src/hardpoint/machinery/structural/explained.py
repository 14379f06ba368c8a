"""The slow walk over a value that does not fit its schema: finds what is wrong and kube-apiserver's words for it.

The words are of kube-openapi's validator: ` in body` is theirs, and so is a dot before some names, because a value is
named by where it lies below the one that is validated. Of branches that fail it tells the one with the most checks
passed, so checks are counted as it counts them. An update may keep what was wrong before: see `Before`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from hardpoint.machinery import patience
from hardpoint.machinery.fielderrors import (
    FieldError,
    invalid,
    not_supported,
    required,
    show,
    too_long,
    too_many,
    type_invalid,
)
from hardpoint.machinery.structural import patterns, values
from hardpoint.machinery.structural.before import Before
from hardpoint.machinery.structural.keywords import INT_OR_STRING
from hardpoint.machinery.structural.values import where

Json = dict[str, Any]

TYPES: dict[type, str] = {
    bool: "boolean",
    str: "string",
    int: "integer",
    float: "number",
    list: "array",
    dict: "object",
    type(None): "null",
}
_VALUE_STEPS = 60
_GO_FORMATS = {int: "int64", float: "float64"}


def problems(path: str, value: Any, schema: Json, before: Before | None = None) -> list[FieldError]:
    """Everything that keeps `value`, which lies at `path`, from fitting `schema`. What is found twice is told once."""
    return list(dict.fromkeys(_value(_Place(path, "", before), value, schema).errors))


class _Place(NamedTuple):
    path: str
    """Where the value that is validated lies in its object; "" for the object itself."""
    name: str
    """Where this value lies below it, in kube-openapi's spelling."""
    before: Before | None

    @property
    def field(self) -> str:
        return where(self.path, self.name)


@dataclass(slots=True)
class _Result:
    errors: list[FieldError] = field(default_factory=list)
    passed: int = 0

    def add(self, *others: _Result) -> None:
        for other in others:
            self.errors += other.errors
            self.passed += other.passed


def _value(place: _Place, value: Any, schema: Json) -> _Result:
    patience.spend(_VALUE_STEPS)
    result = _Result()
    result.add(_type(place, value, schema))
    if value is None:
        result.errors += _enum(place, value, schema)
    else:
        result.passed += 4 if _types(schema) or schema.get("format") else 3
        result.add(_logic(place, value, schema))
        result.add(_by_class(place, value, schema))
        result.errors += _enum(place, value, schema)
        if isinstance(value, dict):
            result.add(_object(place, value, schema))
    if result.errors and place.before is not None and place.before.is_unchanged():
        return _Result(passed=result.passed)
    return result


def _by_class(place: _Place, value: Any, schema: Json) -> _Result:
    """What only values of a certain class are asked. Passing it counts, and so does being asked."""
    if isinstance(value, str):
        has_format = values.string_format(schema)
        return _Result(_string(place, value, schema), 1 if has_format is None else 2)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _Result(list(values.number_problems(place.path, place.name, value, schema)), 2)
    if isinstance(value, list):
        return _array(place, value, schema)
    return _Result(passed=int(isinstance(value, dict)))


def _types(schema: Json) -> tuple[str, ...]:
    if schema.get(INT_OR_STRING):
        return ("integer", "string")
    return (schema["type"],) if schema.get("type") else ()


def _type(place: _Place, value: Any, schema: Json) -> _Result:
    types = _types(schema)
    actual = TYPES.get(type(value), "number")
    if value is None:
        return _Result(passed=1) if not types or schema.get("nullable") else _wrong_type(place, ",".join(types), "null")
    is_number = actual == "number" and "integer" in types and values.is_whole(value)
    fits = actual in types or is_number or (actual == "integer" and "number" in types)
    layout = _known_format(schema)
    if layout and isinstance(value, str | list):
        # A known format is all that is asked of these, even of a list.
        fits = fits or not {"integer", "number"} & {*types}
    elif layout and not fits:
        return _wrong_type(place, layout, _GO_FORMATS.get(type(value), ""))
    if types and not fits:
        return _wrong_type(place, ",".join(types), actual)
    return _Result(passed=int(bool(types or layout)))


def _known_format(schema: Json) -> str:
    layout = schema.get("format", "")
    if values.string_format(schema) is not None:
        return str(layout)
    known = {"integer": ("int32", "int64"), "number": ("float", "double")}.get(values.single_type(schema), ())
    return layout if layout in known else ""


def _wrong_type(place: _Place, wanted: str, actual: str) -> _Result:
    return _Result([type_invalid(place.field, actual, f'{place.name} in body must be of type {wanted}: "{actual}"')])


def _enum(place: _Place, value: Any, schema: Json) -> list[FieldError]:
    enum = schema.get("enum")
    if not enum or (value is not None and values.enum_check(enum)(value)):
        return []
    listed = [each if isinstance(each, str) else show(each) for each in enum]
    patience.spend(sum(map(len, listed)))
    return [not_supported(place.field, value, listed)]


def _string(place: _Place, value: str, schema: Json) -> list[FieldError]:
    """The first of its constraints that a string breaks, and its format."""
    found = _constrained(place, value, schema)
    has_format = values.string_format(schema)
    if has_format is not None and not has_format(value):
        told = f"{place.name} in body must be of type {schema['format']}: {show(value)}"
        found.append(type_invalid(place.field, value, told))
    return found


def _constrained(place: _Place, value: str, schema: Json) -> list[FieldError]:
    most, least, pattern = schema.get("maxLength"), schema.get("minLength"), schema.get("pattern", "")
    if most is not None and len(value) > most:
        return [too_long(place.field, most)]
    if least is not None and len(value) < least:
        return [invalid(place.field, value, f"{place.name} in body should be at least {least} chars long")]
    if pattern and not patterns.matches(pattern, value):
        patience.spend(len(pattern) + len(value))
        return [invalid(place.field, value, f"{place.name} in body should match '{pattern}'")]
    return []


def _array(place: _Place, value: list[Any], schema: Json) -> _Result:
    result = _Result(passed=2)
    items = schema.get("items")
    if isinstance(items, dict):
        for index, each in enumerate(value):
            before = place.before.item(index) if place.before is not None else None
            result.add(_value(_Place(place.path, f"{place.name}[{index}]", before), each, items))
    least, most = schema.get("minItems"), schema.get("maxItems")
    if least is not None and len(value) < least:
        told = f"{place.name} in body should have at least {least} items"
        result.errors.append(invalid(place.field, len(value), told))
    if most is not None and len(value) > most:
        result.errors.append(too_many(place.field, len(value), most))
    return result


def _object(place: _Place, value: Json, schema: Json) -> _Result:
    result = _Result()
    name = place.name
    least, most = schema.get("minProperties"), schema.get("maxProperties")
    if least is not None and len(value) < least:
        told = f"{name} in body should have at least {least} properties"
        result.errors.append(invalid(place.field, len(value), told))
    if most is not None and len(value) > most:
        result.errors.append(too_many(place.field, len(value), most))
    properties = schema.get("properties") or {}
    additional = schema.get("additionalProperties")
    for key, item in value.items():
        if key in properties:
            spelled = f"{name}.{key}" if name else key
            result.add(_value(_below(place, spelled, key), item, properties[key]))
        elif isinstance(additional, dict):
            result.add(_value(_below(place, f"{name}.{key}", key), item, additional))
        elif additional is False:
            result.errors.append(invalid(place.field, key, f"{name}.{key} in body is a forbidden property"))
    missing = [key for key in schema.get("required") or () if key not in value]
    result.errors += [required(where(place.path, f"{name}.{key}")) for key in missing]
    return result


def _below(place: _Place, name: str, field: str) -> _Place:
    """The place of a field. What an object says it is, it is never excused for."""
    is_type = not place.name and field in ("kind", "apiVersion")
    before = place.before.field(field) if place.before is not None and not is_type else None
    return _Place(place.path, name, before)


def _logic(place: _Place, value: Any, schema: Json) -> _Result:
    """allOf, anyOf, oneOf and not. Their branches know nothing of what was before."""
    result = _Result(passed=1)
    place = place._replace(before=None)

    def tried(word: str) -> list[_Result]:
        return [_value(place, value, branch) for branch in schema.get(word) or ()]

    def unfit(told: str) -> None:
        result.errors.append(invalid(place.path or values.NOWHERE, "", f'"{place.name}" must {told}'))

    if any_of := tried("anyOf"):
        fitting = [each for each in any_of if not each.errors]
        if not fitting:
            unfit("validate at least one schema (anyOf)")
        result.add(fitting[0] if fitting else _best(any_of))
    if one_of := tried("oneOf"):
        fitting = [each for each in one_of if not each.errors]
        if len(fitting) != 1:
            told = f"Found {len(fitting)} valid alternatives" if fitting else "Found none valid"
            unfit(f"validate one and only one schema (oneOf). {told}")
        if len(fitting) < 2:
            result.add(fitting[0] if fitting else _best(one_of))
    if all_of := tried("allOf"):
        result.add(*all_of)
        if any(each.errors for each in all_of):
            none = ". None validated" if all(each.errors for each in all_of) else ""
            unfit(f"validate all the schemas (allOf){none}")
    if schema.get("not") is not None and not _value(place, value, schema["not"]).errors:
        unfit("not validate the schema (not)")
    return result


def _best(failed: Sequence[_Result]) -> _Result:
    """The failure that came closest; of several the first."""
    return max(failed, key=lambda each: each.passed)
