"""Whether an applied configuration fits its kind: every field declared, every value of the right kind, no item twice.

The words are those of structured-merge-diff, which tell a value as Go holds it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hardpoint.machinery.apply import elements, items
from hardpoint.machinery.apply.types import ListType, MapType, Type
from hardpoint.machinery.fielderrors import quote
from hardpoint.machinery.strategiclists import go_text

Json = dict[str, Any]

_NUMBERS = (int, float)
_GO_TYPES: Mapping[type, str] = {
    bool: "bool",
    dict: "map[string]interface {}",
    float: "float64",
    int: "int64",
    list: "[]interface {}",
    str: "string",
}


class Unfit(ValueError):
    """A configuration that does not fit its kind; the message names every problem."""


def check(kind: Type, config: Json) -> None:
    """Raise Unfit unless the configuration fits."""
    problems = _problems(kind, config, "")
    if len(problems) == 1:
        raise Unfit(problems[0])
    if problems:
        raise Unfit("\n  ".join(["errors:", *problems]))


def _problems(kind: Type, value: Any, path: str) -> list[str]:
    if value is None:
        return []
    if value.__class__ is dict and kind.map is not None:
        return _map_problems(kind.map, value, path)
    if value.__class__ is list and kind.list is not None:
        return _list_problems(kind.list, value, path)
    if kind.map is not None and kind.scalar is None:
        return [f"{path}: expected map, got &{{{go_text(value)}}}"]
    if kind.scalar is not None:
        wrong = _scalar_problem(kind.scalar, value)
        return [f"{path}: {wrong}"] if wrong else []
    return [f"{path}: expected list, got &{{{go_text(value)}}}"]


def _map_problems(kind: MapType, value: Json, path: str) -> list[str]:
    problems: list[str] = []
    for name in sorted(value):
        child = kind.fields.get(name) or kind.element
        if child is None:
            # Go looks no further once it has met a field that nobody declared.
            return [*problems, f"{path}.{name}: field not declared in schema"]
        problems += _problems(child, value[name], f"{path}.{name}")
    return problems


def _list_problems(kind: ListType, value: list[Any], path: str) -> list[str]:
    problems: list[str] = []
    seen: set[str] = set()
    for index, item in enumerate(value):
        if kind.is_atomic:
            problems += _problems(kind.element, item, f"{path}[{index}]")
            continue
        try:
            element = items.element_of(kind, item)
        except items.BadItem as wrong:
            return [*problems, f"{path}: element {index}: {wrong}"]
        if element in seen:
            problems.append(f"{path}: duplicate entries for key {elements.shown(element)}")
        seen.add(element)
        problems += _problems(kind.element, item, path + elements.shown(element))
    return problems


def _scalar_problem(scalar: str, value: Any) -> str:
    return "" if _FITS[scalar](value) else _WORDS[scalar](value)


def _is_number(value: Any) -> bool:
    return isinstance(value, _NUMBERS) and value.__class__ is not bool


_FITS: Mapping[str, Callable[[Any], bool]] = {
    "string": lambda value: value.__class__ is str,
    "numeric": _is_number,
    "boolean": lambda value: value.__class__ is bool,
    "untyped": lambda value: not isinstance(value, dict | list),
}
_WORDS: Mapping[str, Callable[[Any], str]] = {
    "string": lambda value: f"expected string, got &value.valueUnstructured{{Value:{_go_syntax(value)}}}",
    "numeric": lambda value: f"expected numeric (int or float), got {_GO_TYPES[type(value)]}",
    "boolean": lambda value: f"expected boolean, got &{{{go_text(value)}}}",
    "untyped": lambda value: f"expected any scalar, got &{{{go_text(value)}}}",
}


def _go_syntax(value: Any) -> str:
    """A JSON value as Go's %#v prints it."""
    if isinstance(value, dict):
        pairs = ", ".join(f"{quote(name)}:{_go_syntax(each)}" for name, each in sorted(value.items()))
        return f"map[string]interface {{}}{{{pairs}}}"
    if isinstance(value, list):
        return f"[]interface {{}}{{{', '.join(map(_go_syntax, value))}}}"
    if isinstance(value, str):
        return quote(value)
    return "interface {}(nil)" if value is None else go_text(value)
