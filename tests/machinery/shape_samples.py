"""Random objects of built-in kinds, written as Go writes them, for tests that need many and different ones."""

from __future__ import annotations

import base64
from random import Random
from typing import Any

from hardpoint.machinery.shapes import Field, Shape, values

DEPTH_MAX = 6
WORDS = ("a", "web-0", "10.0.0.1", "é\n", "true", "1")
QUANTITIES = ("1", "100m", "64Mi", "1500m", "2k", "1Ti", "0")


def sample(shape: Shape, random: Random, depth: int = 0) -> dict[str, Any]:
    """An object with some of the fields of its type, and all those that Go always writes."""
    found = {}
    for field in shape.fields.values():
        if field.number == 0:
            continue
        if field.go == "val" or is_struct(field) or random.random() < (0.5 if depth < DEPTH_MAX else 0):
            value = field_value(field, random, depth)
            if value or not leaves_out_empty(field):
                found[field.name] = value
        elif field.go == "ptr,null":
            found[field.name] = None
    return found


def is_struct(field: Field) -> bool:
    return (
        field.go == "val,omitempty"
        and field.label == "optional"
        and "." in field.type
        and field.type not in values.LISTS_OF_STRINGS
    )


def leaves_out_empty(field: Field) -> bool:
    return field.go in ("val,omitempty", "val,omitzero") and not is_struct(field)


def field_value(field: Field, random: Random, depth: int) -> Any:
    if field.is_list:
        items = [value(field, random, depth) for _ in range(random.randrange(3))]
        return items or None
    if field.is_map:
        items = {word: value(field, random, depth) for word in random.sample(WORDS, random.randrange(3))}
        return items or None
    return value(field, random, depth)


def value(field: Field, random: Random, depth: int) -> Any:
    if scalar := SCALARS.get(field.type):
        return scalar(random)
    assert field.element is not None
    if field.type.startswith(values.SCHEMAS + "JSONSchemaPropsOr"):
        return sample(field.element.fields["schema"].element, random, depth + 3)  # type: ignore[arg-type]
    return sample(field.element, random, depth + 1)


def word(random: Random) -> str:
    return random.choice(WORDS)


def json_value(random: Random) -> Any:
    return random.choice([{"f:a": {}}, ["x", 1, None], "text", 1.5, True, {"a": {"b": [1]}}])


SCALARS: dict[str, Any] = {
    "string": word,
    "bool": lambda random: random.random() < 0.5,
    "int32": lambda random: random.choice([0, 1, -1, 80, 2**31 - 1, -(2**31)]),
    "int64": lambda random: random.choice([0, 1, -1, 80, 2**63 - 1, -(2**63)]),
    "double": lambda random: random.choice([0, 1, 1.5, -2.25]),
    "bytes": lambda random: base64.b64encode(random.randbytes(random.randrange(1, 9))).decode(),
    values.TIME: lambda random: random.choice(["2026-11-15T10:00:00Z", "1970-01-01T00:00:00Z", "0999-01-01T00:00:00Z"]),
    values.MICRO_TIME: lambda random: random.choice(["2026-11-15T10:00:00.123456Z", "1969-12-31T23:59:59.000001Z"]),
    values.QUANTITY: lambda random: random.choice(QUANTITIES),
    values.INT_OR_STRING: lambda random: random.choice([0, 80, -1, "http", "50%", ""]),
    **dict.fromkeys(values.AS_THEY_ARE, json_value),
    **dict.fromkeys(values.LISTS_OF_STRINGS, lambda random: [word(random), word(random)]),
}
