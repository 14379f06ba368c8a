"""Steps that look into objects, maps and lists: `a.b`, `a[b]`, `a.?b`, `a[?b]`, `has(a.b)`.

On an optional they look into its value, and give an optional; what is not there makes them fail, unless they ask with a
question mark.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hardpoint.machinery.cel.costs import SELECT
from hardpoint.machinery.cel.errors import NO_SUCH_OVERLOAD, EvaluationError
from hardpoint.machinery.cel.frames import SPENT, Frame, Step
from hardpoint.machinery.cel.values import MISSING, NONE, Optional, UInt, find, type_name


def select(operand: Step, field: str) -> Step:
    whole = operand.run

    def run(frame: Frame) -> Any:
        value = whole(frame)
        if type(value) is dict:
            found = value.get(field, MISSING)
            if found is not MISSING:
                return found
        elif type(value) is Optional:
            return _through_optional(frame, value, field)
        raise EvaluationError(f"no such key: {field}")

    return _further(operand, run)


def select_optional(operand: Step, field: str) -> Step:
    whole = operand.run

    def run(frame: Frame) -> Optional:
        return _maybe(frame, whole(frame), field)

    return _further(operand, run)


def index(operand: Step, key: Step) -> Step:
    whole, wanted = operand.run, key.run

    def run(frame: Frame) -> Any:
        value, name = whole(frame), wanted(frame)
        if type(value) is Optional:
            return _through_optional(frame, value, name)
        return _present(value, name)

    # A path that is a key is not paid for its beginning.
    return _further(operand, run, key.cost - (key.base or 0))


def optional_index(operand: Step, key: Step) -> Step:
    whole, wanted = operand.run, key.run

    def run(frame: Frame) -> Optional:
        return _maybe(frame, whole(frame), wanted(frame))

    return _further(operand, run, key.cost - (key.base or 0))


def has(operand: Step, field: str) -> Step:
    whole = operand.run

    def run(frame: Frame) -> bool:
        value = whole(frame)
        if type(value) is Optional:
            if not value.has_value:
                return False
            value = value.value()
        return type(value) is dict and field in value

    return Step(run, operand.cost + (SELECT if operand.base is None else 0))


def _further(operand: Step, run: Callable[[Frame], Any], key_cost: int = 0) -> Step:
    """One step further on a path; a path that begins with a value of its own pays for its beginning too."""
    beginning = SELECT if operand.base is None else 0
    base = SELECT if operand.base is None else operand.base
    return Step(run, operand.cost + beginning + SELECT + key_cost, base=base)


def _through_optional(frame: Frame, value: Optional, key: Any) -> Optional:
    if value.has_value:
        return Optional(_present(value.value(), key))
    frame[SPENT] -= SELECT
    return NONE


def _maybe(frame: Frame, value: Any, key: Any) -> Optional:
    """What is there, as an optional. What is not there costs nothing."""
    if type(value) is Optional:
        found = _get(value.value(), key) if value.has_value else MISSING
    else:
        found = _get(value, key)
    if found is not MISSING:
        return Optional(found)
    frame[SPENT] -= SELECT
    return NONE


def _present(value: Any, key: Any) -> Any:
    found = _get(value, key)
    if found is not MISSING:
        return found
    if type(value) is list:
        raise EvaluationError(f"index out of bounds: {key}")
    raise EvaluationError(f"no such key: {key}")


def _get(value: Any, key: Any) -> Any:
    """What is there, or MISSING."""
    if type(value) is dict:
        return find(value, key)
    if type(value) is not list:
        raise EvaluationError(NO_SUCH_OVERLOAD)
    kind = type(key)
    if kind is float and key.is_integer():
        key = int(key)
    elif kind is not int and kind is not UInt:
        raise EvaluationError(f"unsupported index type '{type_name(key)}' in list")
    return value[key] if 0 <= key < len(value) else MISSING
