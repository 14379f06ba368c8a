"""JSON paths as definitions of custom resources use them, like `.status.conditions[?(@.type=="Ready")].status`.

A path is compiled into a function that returns every value it finds, in order. Understood are children by name, with
dots escaped by a backslash or names in quotes, indices, `[*]`, and filters that compare a path with a constant.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any

import orjson

from hardpoint.machinery.errors import HardpointError
from hardpoint.machinery.remembering import remembered

Finder = Callable[[Any], list[Any]]
Step = Callable[[Any], Iterable[Any]]

VALUES_MAX = 10_000
"""So many values are looked into at each step: a column shows one."""

_CHILD = re.compile(r"\.?((?:[^.\[\]\\'\"{}\s]|\\.)+)")
_QUOTED = re.compile(r"""\.?\[\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")\s*\]""")
_INDEX = re.compile(r"\.?\[\s*(-?[0-9]{1,9})\s*\]")
_EVERY = re.compile(r"\.?\[\s*\*\s*\]|\.\*")
_FILTER = re.compile(
    r"""\.?\[\?\(\s*@((?:[^=!<>'"\s]|\[['"][^'"]*['"]\])+)\s*(?:(==|!=|<=|>=|<|>)\s*"""
    r"""('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^'")\s]+)\s*)?\)\]"""
)
_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class BadPath(HardpointError):
    """A path outside the subset that definitions may use."""


@remembered(count=1024)
def parse(path: str) -> Finder:
    """The function that finds a path's values, of very many the first. Raises BadPath."""
    try:
        steps = _steps(path)
    except RecursionError:
        raise BadPath(f"{path[:100]!r} and so on has too many filters inside filters") from None

    def find(value: Any) -> list[Any]:
        found = [value]
        for step in steps:
            if not found:
                break
            found = list(islice((child for parent in found for child in step(parent)), VALUES_MAX))
        return found

    return find


def _steps(path: str) -> list[Step]:
    text = path.strip().removeprefix("$")
    steps: list[Step] = []
    at = 0
    while at < len(text):
        if text.startswith(".", at) and at == len(text) - 1:
            break
        match, step = _step(text, at)
        if match is None or step is None:
            raise BadPath(f"{path!r} is no JSON path; write it like .spec.replicas or .status.conditions[0].status")
        steps.append(step)
        at = match.end()
    return steps


def _step(text: str, at: int) -> tuple[re.Match[str] | None, Step | None]:
    if match := _EVERY.match(text, at):
        return match, _every
    if match := _QUOTED.match(text, at):
        return match, _child(_unescaped(match[1] if match[1] is not None else match[2]))
    if match := _INDEX.match(text, at):
        return match, _element(int(match[1]))
    if match := _FILTER.match(text, at):
        return match, _filter(*match.groups())
    if match := _CHILD.match(text, at):
        return match, _child(_unescaped(match[1]))
    return None, None


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text)


def _child(name: str) -> Step:
    return lambda value: [value[name]] if isinstance(value, dict) and name in value else []


def _element(index: int) -> Step:
    return lambda value: [value[index]] if isinstance(value, list) and -len(value) <= index < len(value) else []


def _every(value: Any) -> Iterable[Any]:
    if isinstance(value, list):
        return value
    return value.values() if isinstance(value, dict) else ()


def _filter(path: str, comparison: str | None, constant: str | None) -> Step:
    find = parse(path)

    def keep(value: Any) -> Iterable[Any]:
        if not isinstance(value, list):
            return []
        if comparison is None:
            return [item for item in value if find(item)]
        return [item for item in value if any(holds(found) for found in find(item))]

    def holds(found: Any) -> bool:
        try:
            return bool(_COMPARISONS[comparison or "=="](found, wanted))
        except TypeError:
            return False

    wanted = _constant(constant or "")
    return keep


def _constant(text: str) -> Any:
    if text[:1] in ("'", '"'):
        return _unescaped(text[1:-1])
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return text
