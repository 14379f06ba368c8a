"""What an expression comes to, written so that a program of another language can write it the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from hardpoint.machinery import cel
from hardpoint.machinery.cel.instants import format_timestamp
from hardpoint.machinery.cel.library.conversions import format_double
from hardpoint.machinery.cel.types import Kind
from hardpoint.machinery.cel.values import Duration, Optional, Timestamp, TypeValue, UInt, type_name
from tests.machinery.cel.declared import Declared

Json = dict[str, Any]

_HTML = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def told(expression: str, variables: Mapping[str, str], values: Mapping[str, Any]) -> Json:
    """Why an expression is refused, or its type and its value or failure, and its cost."""
    try:
        program = cel.compile(expression, {name: Declared.read(text).type for name, text in variables.items()})
    except cel.CompileError as refused:
        return {"refusal": str(refused)}
    answer: Json = {"type": _full(program.result)}
    try:
        value, answer["cost"] = program.evaluate_counted(values)
    except cel.EvaluationError as failed:
        return {**answer, "failure": str(failed)}
    return {**answer, "value": shown(value)}


def _full(type: cel.Type) -> str:
    """Unlike error messages, cel-go's API calls types by their full names."""
    if type.kind is Kind.OBJECT or not type.parameters:
        return type.name
    return f"{type.name}({', '.join(map(_full, type.parameters))})"


def shown(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case UInt():
            return f"{int(value)}u"
        case int():
            return str(value)
        case float():
            return f"double {format_double(value)}"
        case str():
            return orjson.dumps(value).decode().translate(_HTML)
        case bytes():
            return f"bytes {value.hex()}"
        case Duration():
            return f"duration {value.nanoseconds}"
        case Timestamp():
            return f"timestamp {format_timestamp(value)}"
        case Optional():
            return f"optional({shown(value.value())})" if value.has_value else "optional()"
        case list():
            return f"[{', '.join(map(shown, value))}]"
        case dict():
            return "{" + ", ".join(sorted(f"{shown(key)}: {shown(item)}" for key, item in value.items())) + "}"
        case TypeValue():
            return f"type {value.name}"
    return type_name(value)
