"""Strangers' regular expressions: Go's, so they run on re2, whose time does not explode.

re2 and Go's parser are of one family: they refuse the same patterns at the same place, in slightly different words. A
pattern that needs more memory than re2 is given never matches.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from hardpoint.machinery import patience

MEMORY_BYTES_MAX = 1 << 23

# What Go says where re2 says something else.
_GO_WORDS: Mapping[str, str] = {
    "bad repetition operator": "invalid nested repetition operator",
    "invalid perl operator": "invalid or unsupported Perl syntax",
    "invalid repetition size": "invalid repeat count",
    "missing )": "missing closing )",
    "missing ]": "missing closing ]",
    "no argument for repetition operator": "missing argument to repetition operator",
}
_TRAILING = "trailing \\"
# Any byte: re2 has it, Go does not.
_ANY_BYTE = re.compile(r"(?<!\\)(?:\\\\)*\\C")


def matches(pattern: str, text: str) -> bool:
    """Whether the pattern is found anywhere in the text. A pattern that is none is found nowhere."""
    expression, _ = _compiled(pattern)
    if expression is not None:
        patience.spend_searching(expression.programsize, text)
    try:
        return expression is not None and expression.search(text) is not None
    except UnicodeEncodeError:
        # A lone surrogate: there is no such text in Go either.
        return False


def problem(pattern: str) -> str:
    """Why a pattern does not compile, in Go's words; "" if it does."""
    if _ANY_BYTE.search(pattern):
        return r"invalid escape sequence: `\C`"
    return _compiled(pattern)[1]


@lru_cache(maxsize=512)
def _compiled(pattern: str) -> tuple[Any, str]:
    """The compiled pattern, or None and why it does not compile."""
    import re2  # Not before a schema has a pattern: start-up does not wait for it.

    options = re2.Options()
    options.log_errors = False
    options.max_mem = MEMORY_BYTES_MAX
    try:
        return re2.compile(pattern, options=options), ""
    except UnicodeEncodeError:
        return None, f"invalid UTF-8: `{pattern}`"
    except re2.error as wrong:
        (told,) = wrong.args
        return None, _as_go(told.decode(errors="replace") if isinstance(told, bytes) else str(told))


def _as_go(told: str) -> str:
    if told == _TRAILING:
        return "trailing backslash at end of expression: ``"
    words, _, where = told.partition(": ")
    return f"{_GO_WORDS.get(words, words)}: `{where}`"
