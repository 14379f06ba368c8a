"""The selectors of a review, written as a request would have them.

A review gives them as text or as a list of requirements. Requirements that mean nothing here are left out: what is
then asked is only wider.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from hardpoint.machinery import fields, selectors
from hardpoint.machinery.labels import BadSelector

Json = Mapping[str, Any]
_FIELD_OPERATORS = {"In": "=", "NotIn": "!="}


class Told(NamedTuple):
    """A selector as text, and whether that is all of it."""

    text: str
    is_understood: bool


def field_selector(given: Json) -> Told:
    return _told(given, fields.parse, _field)


def label_selector(given: Json) -> Told:
    return _told(given, selectors.parse, _label)


def _told(given: Json, parse: Callable[[str], object], write: Callable[[Json], str]) -> Told:
    requirements: Sequence[Json] = given.get("requirements") or ()
    if requirements:
        written = [write(requirement) for requirement in requirements]
        return Told(",".join(filter(None, written)), all(written))
    raw = given.get("rawSelector", "")
    try:
        parse(raw)
    except BadSelector:
        return Told("", False)
    return Told(raw, True)


def _field(requirement: Json) -> str:
    values: Sequence[str] = requirement.get("values") or ()
    operator = _FIELD_OPERATORS.get(requirement.get("operator", ""))
    if operator is None or len(values) != 1:
        return ""
    return f"{requirement.get('key', '')}{operator}{fields.escaped(values[0])}"


def _label(requirement: Json) -> str:
    try:
        return str(selectors.from_label_selector({"matchExpressions": [requirement]}))
    except BadSelector:
        return ""
