"""What can go wrong with an expression: it is refused when it is compiled, or it fails when it is evaluated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from hardpoint.machinery.errors import HardpointError

_SHOWN_LINE_LENGTH_MAX = 16384
_WIDE_DOT = "\uff0e"
_WIDE_POINTER = "\uff3e"


class Mistake(NamedTuple):
    """What is wrong at one place of an expression, counted in characters from its beginning; -1 is no place."""

    position: int
    message: str


class CompileError(HardpointError):
    """An expression that cannot be used. The text is the one cel-go gives, each mistake with its line and a pointer."""

    def __init__(self, expression: str, mistakes: Sequence[Mistake]) -> None:
        self.expression = expression
        self.mistakes = tuple(sorted(mistakes, key=lambda mistake: mistake.position))
        super().__init__("\n".join(_told(expression, mistake) for mistake in self.mistakes))


class WrongResult(CompileError):
    """An expression that is sound but gives another type than is wanted."""

    def __init__(self, expression: str, wanted: str, found: str) -> None:
        super().__init__(expression, ())
        self.args = (f"must evaluate to {wanted} but got {found}",)
        self.wanted = wanted
        self.found = found


class BadConstant(CompileError):
    """An expression with a part that needs no variables, and fails."""

    def __init__(self, expression: str, failure: str) -> None:
        super().__init__(expression, ())
        self.args = (failure,)


class EvaluationError(HardpointError):
    """An expression that has no value for these variables."""

    cost = 0
    """What finding that out did cost."""


NO_SUCH_OVERLOAD = "no such overload"
MISFITS = (TypeError, AttributeError)
"""What was checked for the declared types cannot go wrong in these ways with values of these types: a variable has a
value of another type than was declared, null for one, which no function takes."""


def as_failure(error: Exception) -> EvaluationError:
    """An error as the expression's own: a misfit is told as cel-go tells it."""
    return error if isinstance(error, EvaluationError) else EvaluationError(NO_SUCH_OVERLOAD)


class Cancelled(EvaluationError):
    """An expression that was stopped. No part of it can hide that, as `||` hides other failures."""


class Interrupted(Cancelled):
    """An expression that was still at work when its caller had waited long enough."""

    def __init__(self) -> None:
        super().__init__("operation interrupted")


class CostExceeded(Cancelled):
    """An expression that would cost more than it may."""

    def __init__(self) -> None:
        super().__init__("operation cancelled: actual cost limit exceeded")


def _told(expression: str, mistake: Mistake) -> str:
    position, message = mistake
    if position < 0:
        return f"ERROR: <input>:-1:0: {message}"
    if not expression:
        return f"ERROR: <input>:1:0: {message}"
    line_start = expression.rfind("\n", 0, position) + 1
    line_end = expression.find("\n", position)
    text = expression[line_start : line_end if line_end >= 0 else len(expression)].replace("\t", " ")
    column = position - line_start
    line = expression.count("\n", 0, position) + 1
    head = f"ERROR: <input>:{line}:{column + 1}: {message}"
    if len(text) > _SHOWN_LINE_LENGTH_MAX:
        return head
    # Wide characters get a wide dot, so that the pointer stays below what it points at.
    dots = "".join("." if ord(char) < 128 else _WIDE_DOT for char in text[:column])
    pointer = "^" if column >= len(text) or ord(text[column]) < 128 else _WIDE_POINTER
    return f"{head}\n | {text}\n | {dots}{pointer}"
