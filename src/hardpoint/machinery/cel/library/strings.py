"""Texts: searching, cutting, replacing, splitting, joining, quoting. Positions count characters."""

from __future__ import annotations

from hardpoint.machinery.cel.costs import contains, joins, makes, reads, searches, traverses
from hardpoint.machinery.cel.errors import EvaluationError
from hardpoint.machinery.cel.functions import function, member
from hardpoint.machinery.cel.library.formatting import format_text
from hardpoint.machinery.cel.library.regex import matches
from hardpoint.machinery.cel.types import BOOL, DYN, INT, STRING, list_of

_LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
_UPPER = {code + 32: code for code in _LOWER}
_SPACES = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
_QUOTED = str.maketrans(
    {"\a": r"\a", "\b": r"\b", "\f": r"\f", "\n": r"\n", "\r": r"\r", "\t": r"\t", "\v": r"\v", "\\": r"\\", '"': r"\""}
)
_RESULT_LENGTH_MAX = 10_000_000


def _out_of_range(index: int) -> EvaluationError:
    return EvaluationError(f"index out of range: {index}")


def _char_at(text: str, index: int) -> str:
    if not 0 <= index <= len(text):
        raise _out_of_range(index)
    return text[index : index + 1]


def _index_of(text: str, part: str, start: int = 0) -> int:
    if start < 0:
        raise _out_of_range(start)
    if not part:
        return min(start, len(text))
    return text.find(part, start)


def _last_index_of(text: str, part: str) -> int:
    return text.rfind(part) if part else len(text)


def _last_index_of_from(text: str, part: str, start: int) -> int:
    if start < 0:
        raise _out_of_range(start)
    if not part:
        return min(start, len(text))
    return -1 if start >= len(text) else text.rfind(part, 0, start + len(part))


def _substring(text: str, start: int) -> str:
    if not 0 <= start <= len(text):
        raise _out_of_range(start)
    return text[start:]


def _substring_range(text: str, start: int, end: int) -> str:
    if start > end:
        raise EvaluationError(f"invalid substring range. start: {start}, end: {end}")
    for index in (start, end):
        if not 0 <= index <= len(text):
            raise _out_of_range(index)
    return text[start:end]


def _replace(text: str, old: str, new: str, count: int = -1) -> str:
    # The cost is known only afterwards, so that a result that is far too long is not even made.
    times = text.count(old) if count < 0 else min(count, text.count(old))
    if len(text) + times * len(new) > _RESULT_LENGTH_MAX:
        raise EvaluationError("the result of replace is too long")
    return text.replace(old, new, count if count >= 0 else -1)


def _split(text: str, separator: str, count: int = -1) -> list[str]:
    if count == 0:
        return []
    if not separator:
        return list(text) if count < 0 or count >= len(text) else [*text[: count - 1], text[count - 1 :]]
    return text.split(separator, count - 1 if count > 0 else -1)


def _join(parts: list[str], separator: str = "") -> str:
    if sum(map(len, parts)) + len(separator) * len(parts) > _RESULT_LENGTH_MAX:
        raise EvaluationError("the result of join is too long")
    return separator.join(parts)


_TWO = (STRING, STRING)
_TWICE = reads(0, times=2)
OVERLOADS = (
    member("contains", _TWO, BOOL, lambda text, part: part in text, cost=contains),
    member("startsWith", _TWO, BOOL, str.startswith, cost=reads(1)),
    member("endsWith", _TWO, BOOL, str.endswith, cost=reads(1)),
    member("matches", _TWO, BOOL, matches, cost=searches),
    function("matches", _TWO, BOOL, matches, cost=searches),
    member("charAt", (STRING, INT), STRING, _char_at),
    member("indexOf", _TWO, INT, _index_of, cost=traverses),
    member("indexOf", (*_TWO, INT), INT, _index_of, cost=traverses),
    member("lastIndexOf", _TWO, INT, _last_index_of, cost=traverses),
    member("lastIndexOf", (*_TWO, INT), INT, _last_index_of_from, cost=traverses),
    member("lowerAscii", (STRING,), STRING, lambda text: text.translate(_LOWER), cost=reads(0)),
    member("upperAscii", (STRING,), STRING, lambda text: text.translate(_UPPER), cost=reads(0)),
    member("trim", (STRING,), STRING, lambda text: text.strip(_SPACES), cost=reads(0)),
    member("substring", (STRING, INT), STRING, _substring, cost=reads(0)),
    member("substring", (STRING, INT, INT), STRING, _substring_range, cost=reads(0)),
    member("replace", (*_TWO, STRING), STRING, _replace, cost=_TWICE, result_cost=makes),
    member("replace", (*_TWO, STRING, INT), STRING, _replace, cost=_TWICE, result_cost=makes),
    member("split", _TWO, list_of(STRING), _split, cost=_TWICE),
    member("split", (*_TWO, INT), list_of(STRING), _split, cost=_TWICE),
    member("join", (list_of(STRING),), STRING, _join, cost=0, result_cost=joins),
    member("join", (list_of(STRING), STRING), STRING, _join, cost=0, result_cost=joins),
    member("format", (STRING, list_of(DYN)), STRING, format_text, cost=reads(0), result_cost=makes, is_slow=True),
    function("strings.quote", (STRING,), STRING, lambda text: f'"{text.translate(_QUOTED)}"', cost=reads(0)),
)
