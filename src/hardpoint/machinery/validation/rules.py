"""The small rules that many kinds share, told in kube-apiserver's words.

Each takes the path of a field and its value, and returns what is wrong with it. Values are as `shapes` decodes them.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from hardpoint.machinery.fielderrors import FieldError, invalid, json_as_go, not_supported, required

NOT_NEGATIVE = "must be greater than or equal to 0"
POSITIVE = "must be greater than zero"
IMMUTABLE = "field is immutable"


def not_negative(path: str, value: int) -> list[FieldError]:
    return [invalid(path, value, NOT_NEGATIVE)] if value < 0 else []


def immutable(path: str, new: Any, old: Any, *, shown: str | None = None) -> list[FieldError]:
    """Nil and empty are the same. `shown` is how Go prints the new value, where that is not its JSON."""
    if (new or None) == (old or None):
        return []
    if shown is not None:
        return [FieldError("FieldValueInvalid", path, shown, IMMUTABLE)]
    return [invalid(path, new, IMMUTABLE)]


def declared_immutable(path: str, new: Any, old: Any) -> list[FieldError]:
    """As `immutable`, for the fields that upstream declares so in their types: those refusals show no value."""
    return immutable(path, new, old, shown="null")


def choice(path: str, value: str, supported: Collection[str]) -> list[FieldError]:
    """A value out of a closed set, which is told sorted."""
    return [] if value in supported else [not_supported(path, value, sorted(supported))]


def required_choice(path: str, value: str, supported: Collection[str], detail: str = "") -> list[FieldError]:
    return choice(path, value, supported) if value else [required(path, detail)]


def as_go_struct(**fields: Any) -> str:
    """How a struct without JSON tags is printed: under Go's names, in the order they were declared."""
    return json_as_go(fields)
