"""Whether a JSON value fits an OpenAPI v3 schema, told in the words kube-apiserver tells it.

The words are of the validator upstream uses for custom resources: ` in body` is theirs, and so is the space before it,
because a value is named by where it lies below the one that is checked. A `pattern` is not run here: it comes from a
stranger, and Python's engine can be made to take for ever.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

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

Json = dict[str, Any]

JSON_TYPES: dict[type, str] = {
    bool: "boolean",
    str: "string",
    int: "integer",
    float: "number",
    list: "array",
    dict: "object",
    type(None): "null",
}


def problems(path: str, value: Any, schema: Json) -> list[FieldError]:
    """Everything that keeps `value`, which lies at `path`, from fitting `schema`."""
    return list(_value(path, "", value, schema))


def _value(path: str, name: str, value: Any, schema: Json) -> Iterator[FieldError]:
    yield from _type(path, name, value, schema)
    if value is None:
        yield from _enum(path, name, value, schema)
        return
    yield from _logic(path, name, value, schema)
    if isinstance(value, str):
        yield from _string(path, name, value, schema)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        yield from _number(path, name, value, schema)
    if isinstance(value, list):
        yield from _array(path, name, value, schema)
    yield from _enum(path, name, value, schema)
    if isinstance(value, dict):
        yield from _object(path, name, value, schema)


def _at(path: str, name: str) -> str:
    """The field error's path: upstream's name of the value, below the value that is checked."""
    return f"{path}.{name.removeprefix('.')}" if name else path


def _type(path: str, name: str, value: Any, schema: Json) -> Iterator[FieldError]:
    actual = JSON_TYPES[type(value)]
    if value is None and schema.get("nullable"):
        return
    if schema.get("x-kubernetes-int-or-string"):
        if actual not in ("integer", "string"):
            yield _wrong_type(path, name, "integer,string", actual)
        return
    wanted = schema.get("type", "")
    if not wanted or actual == wanted or (wanted == "number" and actual == "integer"):
        return
    if wanted == "integer" and isinstance(value, float) and value.is_integer():
        return
    yield _wrong_type(path, name, wanted, actual)


def _wrong_type(path: str, name: str, wanted: str, actual: str) -> FieldError:
    return type_invalid(_at(path, name), actual, f'{name} in body must be of type {wanted}: "{actual}"')


def _enum(path: str, name: str, value: Any, schema: Json) -> Iterator[FieldError]:
    enum = schema.get("enum")
    if enum and not any(type(value) is type(each) and value == each for each in enum):
        yield not_supported(_at(path, name), value, [each if isinstance(each, str) else show(each) for each in enum])


def _string(path: str, name: str, value: str, schema: Json) -> Iterator[FieldError]:
    limit = schema.get("maxLength")
    if limit is not None and len(value) > limit:
        yield too_long(_at(path, name), limit)
        return
    least = schema.get("minLength")
    if least is not None and len(value) < least:
        yield invalid(_at(path, name), value, f"{name} in body should be at least {least} chars long")


def _number(path: str, name: str, value: float, schema: Json) -> Iterator[FieldError]:
    factor = schema.get("multipleOf")
    if factor is not None and factor <= 0:
        yield invalid(
            _at(path, name), factor, f"factor MultipleOf declared for {name} must be positive: {as_go(factor)}"
        )
    elif factor is not None and math.remainder(value, factor) != 0:
        yield invalid(_at(path, name), value, f"{name} in body should be a multiple of {as_go(factor)}")
    least, most = schema.get("minimum"), schema.get("maximum")
    if least is not None and (value <= least if schema.get("exclusiveMinimum") else value < least):
        word = "greater than" if schema.get("exclusiveMinimum") else "greater than or equal to"
        yield invalid(_at(path, name), value, f"{name} in body should be {word} {as_go(least)}")
    if most is not None and (value >= most if schema.get("exclusiveMaximum") else value > most):
        word = "less than" if schema.get("exclusiveMaximum") else "less than or equal to"
        yield invalid(_at(path, name), value, f"{name} in body should be {word} {as_go(most)}")


def _array(path: str, name: str, value: list[Any], schema: Json) -> Iterator[FieldError]:
    items = schema.get("items")
    if isinstance(items, dict):
        for index, each in enumerate(value):
            yield from _value(path, f"{name}[{index}]", each, items)
    least, most = schema.get("minItems"), schema.get("maxItems")
    if least is not None and len(value) < least:
        yield invalid(_at(path, name), len(value), f"{name} in body should have at least {least} items")
    if most is not None and len(value) > most:
        yield too_many(_at(path, name), len(value), most)


def _object(path: str, name: str, value: Json, schema: Json) -> Iterator[FieldError]:
    least, most = schema.get("minProperties"), schema.get("maxProperties")
    if least is not None and len(value) < least:
        yield invalid(_at(path, name), len(value), f"{name} in body should have at least {least} properties")
    if most is not None and len(value) > most:
        yield too_many(_at(path, name), len(value), most)
    properties = schema.get("properties", {})
    additional = schema.get("additionalProperties")
    if isinstance(additional, dict):
        for key, child in value.items():
            if key not in properties:
                yield from _value(path, f"{name}.{key}", child, additional)
    for key, below in properties.items():
        if key in value:
            yield from _value(path, f"{name}.{key}" if name else key, value[key], below)
    for key in schema.get("required", ()):
        if key not in value:
            yield required(_at(path, f"{name}.{key}"))


def _logic(path: str, name: str, value: Any, schema: Json) -> Iterator[FieldError]:
    """allOf, anyOf, oneOf and not. Of the branches that fail, the first one's reasons are told too."""

    def failures(branch: Json) -> list[FieldError]:
        return list(_value(path, name, value, branch))

    def unfit(told: str) -> FieldError:
        return invalid(path, "", f'"{name}" must validate {told}')

    yield from _any_of(schema.get("anyOf", ()), failures, unfit)
    yield from _one_of(schema.get("oneOf", ()), failures, unfit)
    all_of = [failures(branch) for branch in schema.get("allOf", ())]
    for found in all_of:
        yield from found
    if any(all_of):
        yield unfit("all the schemas (allOf)" + (". None validated" if all(all_of) else ""))
    if "not" in schema and not failures(schema["not"]):
        yield invalid(path, "", f'"{name}" must not validate the schema (not)')


def _any_of(
    branches: list[Json], failures: Callable[[Json], list[FieldError]], unfit: Callable[[str], FieldError]
) -> Iterator[FieldError]:
    results = [failures(branch) for branch in branches]
    if results and all(results):
        yield unfit("at least one schema (anyOf)")
        yield from results[0]


def _one_of(
    branches: list[Json], failures: Callable[[Json], list[FieldError]], unfit: Callable[[str], FieldError]
) -> Iterator[FieldError]:
    results = [failures(branch) for branch in branches]
    fitting = sum(not found for found in results)
    if results and fitting != 1:
        told = f"Found {fitting} valid alternatives" if fitting else "Found none valid"
        yield unfit(f"one and only one schema (oneOf). {told}")
        if not fitting:
            yield from results[0]


def as_go(number: float) -> str:
    """Go's %v of a number: exponents from 1e+21 for whole ones are never reached here, 1e+06 for floats is."""
    if isinstance(number, int) or (number.is_integer() and abs(number) < 1e21):
        return str(int(number))
    return repr(number)
