"""The small rules that many kinds share, told in kube-apiserver's words.

Each takes the path of a field and its value, and returns what is wrong with it. Values are as `shapes` decodes them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from hardpoint.machinery import names
from hardpoint.machinery.fielderrors import FieldError, at, invalid, json_as_go, not_supported, required

Json = dict[str, Any]

NOT_NEGATIVE = "must be greater than or equal to 0"
POSITIVE = "must be greater than zero"
IMMUTABLE = "field is immutable"


def named(path: str, value: str, rule: Callable[[str], list[str]]) -> list[FieldError]:
    """Every complaint that `rule` of `names` has about a value."""
    return [invalid(path, value, text) for text in rule(value)]


def label_map(path: str, labels: Mapping[str, str]) -> list[FieldError]:
    """Keys and values that may stand in an object's labels."""
    found: list[FieldError] = []
    for key, value in labels.items():
        found += named(path, key, names.label_key)
        found += [invalid(path, value, text) for text in names.label_value(value)]
    return found


def not_negative(path: str, value: int) -> list[FieldError]:
    return [invalid(path, value, NOT_NEGATIVE)] if value < 0 else []


def immutable(path: str, new: Any, old: Any, *, shown: str | None = None) -> list[FieldError]:
    """`shown` is how Go prints the new value, where that is not its JSON."""
    if (new or None) == (old or None):
        return []
    if shown is not None:
        return [FieldError("FieldValueInvalid", path, shown, IMMUTABLE)]
    return [invalid(path, new, IMMUTABLE)]


def choice(path: str, value: str, supported: Collection[str]) -> list[FieldError]:
    """A value out of a closed set, told sorted."""
    return [] if value in supported else [not_supported(path, value, sorted(supported))]


def required_choice(path: str, value: str, supported: Collection[str], detail: str = "") -> list[FieldError]:
    return choice(path, value, supported) if value else [required(path, detail)]


def one_of(fields: Iterable[str], holder: Mapping[str, Any]) -> list[str]:
    """Which of `fields` are there, in the order given."""
    return [field for field in fields if field in holder]


def as_go_struct(fields: Sequence[tuple[str, Any]]) -> str:
    """How a struct without JSON tags is printed: Go names, in the order they were declared."""
    return json_as_go(dict(fields))


def duplicates(path: str, values: Sequence[Any]) -> list[int]:
    """The positions of values that occurred before."""
    seen: set[Any] = set()
    found = []
    for index, value in enumerate(values):
        if value in seen:
            found.append(index)
        seen.add(value)
    return found


def each(path: str, values: Sequence[str] | None, rule: Callable[[str, str], list[FieldError]]) -> list[FieldError]:
    """`rule` for every value of a list."""
    found: list[FieldError] = []
    for index, value in enumerate(values or ()):
        found += rule(at(path, index), value)
    return found
