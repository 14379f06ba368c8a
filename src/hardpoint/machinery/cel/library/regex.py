"""Regular expressions, on RE2: whatever the pattern, the time is linear in the text."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, cast

import re2

from hardpoint.machinery import patience
from hardpoint.machinery.cel.costs import searches
from hardpoint.machinery.cel.errors import EvaluationError
from hardpoint.machinery.cel.functions import member
from hardpoint.machinery.cel.types import INT, STRING, list_of

PATTERN_LENGTH_MAX = 10_000
_MEMORY_MAX = 8 << 20
_QUICK_LENGTH_MAX = 1000
_BETWEEN_PAUSES = 1000


@lru_cache(maxsize=1024)
def compiled(pattern: str) -> Any:
    """Raises EvaluationError for what is no pattern."""
    if len(pattern) > PATTERN_LENGTH_MAX:
        raise EvaluationError(f"Illegal regex: the pattern has more than {PATTERN_LENGTH_MAX} characters")
    try:
        return re2.compile(pattern, _options())
    except re2.error as wrong:
        raise EvaluationError(f"error parsing regexp: {_in_go(wrong)}") from None


def _options() -> Any:
    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MEMORY_MAX
    return options


# RE2 and Go's regexp are one design with two sets of words.
_GO_WORDS = {
    "missing )": "missing closing )",
    "missing ]": "missing closing ]",
    "no argument for repetition operator": "missing argument to repetition operator",
    "bad repetition operator": "invalid nested repetition operator",
    "invalid repetition size": "invalid repeat count",
    "invalid perl operator": "invalid or unsupported Perl syntax",
    "invalid named capture group": "invalid named capture",
    "trailing \\ at end of regexp": "trailing backslash at end of expression",
}


def _in_go(wrong: Exception) -> str:
    reason = wrong.args[0] if wrong.args else b""
    told = reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
    words, _, where = told.partition(": ")
    return f"{_GO_WORDS.get(words, words)}: `{where}`"


@lru_cache(maxsize=1024)
def matcher(pattern: str) -> Callable[[str], bool]:
    """Tells whether a pattern matches some part of a text. Raises EvaluationError for what is no pattern.

    A set of one pattern says yes five times as fast as the pattern itself, which says where. It may say no only because
    it ran out of memory.
    """
    exact, quick = compiled(pattern), _quick(pattern)
    size = exact.programsize

    def test(text: str) -> bool:
        if len(text) > _QUICK_LENGTH_MAX:
            patience.spend_searching(size, text)
        if len(text) <= _QUICK_LENGTH_MAX and quick is not None and quick(text):
            return True
        return exact.search(text.encode()) is not None

    return test


def _quick(pattern: str) -> Callable[[str], Any] | None:
    alone = re2.Set.SearchSet(_options())
    try:
        alone.Add(pattern)
        alone.Compile()
    except re2.error:
        return None
    return cast("Callable[[str], Any]", alone.Match)


def matches(text: str, pattern: str) -> bool:
    return matcher(pattern)(text)


def _find(text: str, pattern: str) -> str:
    found = _searching(pattern, text).search(text)
    return "" if found is None else str(found.group())


def _find_all(pause: Callable[[], None], text: str, pattern: str, count: int = -1) -> list[str]:
    found: list[str] = []
    for match in _searching(pattern, text).finditer(text):
        if 0 <= count <= len(found):
            break
        found.append(match.group())
        if not len(found) % _BETWEEN_PAUSES:
            pause()
    return found


def _searching(pattern: str, text: str) -> Any:
    try:
        expression = compiled(pattern)
    except EvaluationError as wrong:
        raise EvaluationError(f"Illegal regex: {wrong}") from None
    patience.spend_searching(expression.programsize, text)
    return expression


OVERLOADS = (
    member("find", (STRING, STRING), STRING, _find, cost=searches),
    member("findAll", (STRING, STRING), list_of(STRING), _find_all, cost=searches, is_slow=True),
    member("findAll", (STRING, STRING, INT), list_of(STRING), _find_all, cost=searches, is_slow=True),
)
