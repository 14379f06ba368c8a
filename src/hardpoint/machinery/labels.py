"""What labels must look like to be selected: requirements, and selectors made of them.

Matching is on the path of every list and watch event, so equality, by far the most common requirement, is tested
first and without a call. How selectors are written is told in `hardpoint.machinery.selectors`; the messages are those
of k8s.io/apimachinery/pkg/labels.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from hardpoint.machinery import names
from hardpoint.machinery.errors import HardpointError
from hardpoint.machinery.fielderrors import FieldError, invalid, not_supported

Operator = Literal["=", "==", "!=", "in", "notin", "exists", "!", "gt", "lt"]

_EQUAL = frozenset({"=", "==", "in"})
_UNEQUAL = frozenset({"!=", "notin"})
_PRINTED = {"=": "=", "==": "==", "!=": "!=", "in": " in ", "notin": " notin ", "gt": ">", "lt": "<"}
_INTEGER = re.compile("[+-]?[0-9]{1,4000}")


class BadSelector(HardpointError):
    """A selector that cannot be understood; the message is the one kube-apiserver gives."""


class Requirement(NamedTuple):
    """One key, and what its value must be."""

    key: str
    operator: Operator
    values: tuple[str, ...] = ()

    @property
    def is_exact(self) -> bool:
        """Whether one value alone will do."""
        return self.operator in _EQUAL and len(self.values) == 1

    def matches(self, labels: Mapping[str, str]) -> bool:
        value = labels.get(self.key)
        if self.operator in _EQUAL:
            return value is not None and value in self.values
        if self.operator in _UNEQUAL:
            return value is None or value not in self.values
        if self.operator == "exists":
            return value is not None
        if self.operator == "!":
            return value is None
        return value is not None and self._compares(value)

    def _compares(self, value: str) -> bool:
        actual, wanted = int64(value), int64(self.values[0])
        if actual is None or wanted is None:
            return False
        return actual > wanted if self.operator == "gt" else actual < wanted

    def __str__(self) -> str:
        if self.operator == "!":
            return f"!{self.key}"
        if self.operator == "exists":
            return self.key
        values = ",".join(sorted(self.values))
        if self.operator in ("in", "notin"):
            values = f"({values})"
        return f"{self.key}{_PRINTED[self.operator]}{values}"


def int64(text: str) -> int | None:
    """A decimal int64, or None."""
    if not _INTEGER.fullmatch(text):
        return None
    number = int(text)
    return number if -(2**63) <= number < 2**63 else None


@dataclass(frozen=True, slots=True)
class Selector:
    """Requirements of which all must be met. Without any, everything matches; `NOTHING` matches nothing."""

    requirements: tuple[Requirement, ...] = ()
    impossible: bool = False
    _equal: tuple[tuple[str, str], ...] = field(init=False, repr=False, compare=False)
    _other: tuple[Requirement, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        ordered = tuple(sorted(self.requirements, key=lambda requirement: requirement.key))
        object.__setattr__(self, "requirements", ordered)
        object.__setattr__(self, "_equal", tuple((each.key, each.values[0]) for each in ordered if each.is_exact))
        object.__setattr__(self, "_other", tuple(each for each in ordered if not each.is_exact))

    @property
    def is_everything(self) -> bool:
        return not self.requirements and not self.impossible

    def matches(self, labels: Mapping[str, str]) -> bool:
        for key, value in self._equal:
            if labels.get(key) != value:
                return False
        for requirement in self._other:
            if not requirement.matches(labels):
                return False
        return not self.impossible

    def matches_object(self, obj: Mapping[str, Any]) -> bool:
        """Whether an object's labels match."""
        return self.matches((obj.get("metadata") or {}).get("labels") or {})

    def required_value(self, key: str) -> str | None:
        """The only value that `key` may have, if there is just one."""
        return next((value for wanted, value in self._equal if wanted == key), None)

    def __str__(self) -> str:
        return ",".join(str(requirement) for requirement in self.requirements)


EVERYTHING = Selector()
NOTHING = Selector(impossible=True)


def requirement(key: str, operator: Operator, values: Sequence[str] = ()) -> Requirement:
    """A Requirement that makes sense. Raises BadSelector with everything that is wrong with it."""
    found = _problems(key, operator, values)
    if found:
        raise BadSelector(told_together(str(problem) for problem in found))
    return Requirement(key, operator, tuple(values))


def told_together(texts: Iterable[str]) -> str:
    """Several messages as Go's aggregate prints them: one alone, more in brackets, none twice."""
    unique = list(dict.fromkeys(texts))
    return unique[0] if len(unique) == 1 else f"[{', '.join(unique)}]"


def _problems(key: str, operator: Operator, values: Sequence[str]) -> list[FieldError]:
    found = []
    if wrong := names.label_key(key):
        found.append(invalid("key", key, "; ".join(wrong)))
    found += _count_problems(operator, values)
    for index, value in enumerate(values):
        if wrong := names.label_value(value):
            found.append(invalid(f"values[{index}][{key}]", value, "; ".join(wrong)))
    return found


def _count_problems(operator: Operator, values: Sequence[str]) -> list[FieldError]:
    # Go prints a slice without elements as null here.
    shown = list(values) or None
    if operator in ("in", "notin"):
        detail = "for 'in', 'notin' operators, values set can't be empty"
        return [] if values else [invalid("values", shown, detail)]
    if operator in ("=", "==", "!="):
        detail = "exact-match compatibility requires one single value"
        return [] if len(values) == 1 else [invalid("values", shown, detail)]
    if operator in ("exists", "!"):
        detail = "values set must be empty for exists and does not exist"
        return [invalid("values", shown, detail)] if values else []
    if operator not in ("gt", "lt"):
        return [not_supported("operator", operator, _PRINTED)]
    found = []
    if len(values) != 1:
        found.append(invalid("values", shown, "for 'Gt', 'Lt' operators, exactly one value is required"))
    for index, value in enumerate(values):
        if int64(value) is None:
            detail = "for 'Gt', 'Lt' operators, the value must be an integer"
            found.append(invalid(f"values[{index}]", value, detail))
    return found
