"""`'%d of %s'.format([1, 'x'])`, after cel-go's second version of it."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from hardpoint.machinery.cel.errors import EvaluationError
from hardpoint.machinery.cel.functions import Pause
from hardpoint.machinery.cel.instants import format_duration, format_timestamp
from hardpoint.machinery.cel.library.conversions import format_double
from hardpoint.machinery.cel.types import DURATION, TIMESTAMP
from hardpoint.machinery.cel.values import Duration, Timestamp, TypeValue, UInt, type_name
from hardpoint.machinery.fielderrors import quote

_PRECISION = 6
_BETWEEN_PAUSES = 1000
_PRECISION_MAX = 100
_CLAUSE = re.compile(r"%(?:\.([0-9]*))?(.)", re.DOTALL)


class Clause(NamedTuple):
    """One `%...` of a template."""

    letter: str
    precision: int
    start: int
    end: int

    def problem(self, type: str) -> str:
        """Why a value of this type cannot stand here; empty if it can, or if only the value will tell."""
        if type == "dyn" or type in _TAKEN[self.letter]:
            return ""
        return f"error during formatting: {_REFUSALS[self.letter]}, was given {type}"


def format_text(pause: Pause, template: str, values: Sequence[Any]) -> str:
    """Raises EvaluationError for a clause nobody knows, or a value that its clause does not take."""
    parts: list[str] = []
    end = used = 0
    for clause in read_clauses(template):
        parts.append(template[end : clause.start])
        end = clause.end
        if clause.letter == "%":
            parts.append("%")
            continue
        if used >= len(values):
            raise EvaluationError(f"index {used} out of range")
        parts.append(_formatted(pause, clause, values[used]))
        used += 1
    return "".join((*parts, template[end:]))


def read_clauses(template: str) -> list[Clause]:
    """All clauses, in their order. Raises EvaluationError."""
    found: list[Clause] = []
    position = 0
    while (start := template.find("%", position)) >= 0:
        match = _CLAUSE.match(template, start)
        if match is None:
            raise EvaluationError("unexpected end of string")
        position = match.end()
        found.append(Clause(_letter(match), _precision(match[1]), start, position))
    return found


def _letter(match: re.Match[str]) -> str:
    letter = match[2]
    if letter not in _TAKEN and match.group() != "%%":
        raise EvaluationError(f'could not parse formatting clause: unrecognized formatting clause "{letter}"')
    return letter


def _precision(digits: str | None) -> int:
    if digits is None:
        return _PRECISION
    precision = int(digits or "0") if len(digits) < 9 else _PRECISION_MAX + 1
    if precision > _PRECISION_MAX:
        raise EvaluationError(f"precision {digits} exceeds maximum allowed precision {_PRECISION_MAX}")
    return precision


def _formatted(pause: Pause, clause: Clause, value: Any) -> str:
    try:
        if clause.letter == "s":
            return _text(value, pause)
        return _CLAUSES[clause.letter](value, clause.precision)
    except (ValueError, OverflowError, TypeError):
        refusal = _REFUSALS[clause.letter]
        raise EvaluationError(f"error during formatting: {refusal}, was given {type_name(value)}") from None


def _text(value: Any, pause: Pause) -> str:
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case None:
            return "null"
        case float():
            return _infinite(value) or format_double(value)
        case int():
            return str(int(value))
        case bytes():
            return value.decode()
        case Timestamp():
            return format_timestamp(value)
        case Duration():
            return format_duration(value)
        case TypeValue():
            return value.name
        case list():
            return f"[{', '.join(_inner(item, pause) for item in _pausing(value, pause))}]"
        case dict():
            entries = _pausing(value.items(), pause)
            shown = sorted((_inner(key, pause), _inner(item, pause)) for key, item in entries)
            return f"{{{', '.join(f'{key}:{item}' for key, item in shown)}}}"
    raise TypeError


def _pausing(items: Iterable[Any], pause: Pause) -> Iterator[Any]:
    for number, item in enumerate(items):
        if not number % _BETWEEN_PAUSES:
            pause()
        yield item


def _inner(value: Any, pause: Pause) -> str:
    """A value inside a list or map."""
    match value:
        case str():
            return quote(value)
        case bytes():
            return f"b{quote(value.decode(errors='replace'))}"
        case float():
            return quote(_infinite(value)) if _infinite(value) else f"{value:.6f}"
        case Timestamp():
            return f'timestamp("{format_timestamp(value)}")'
        case Duration():
            return f'duration("{format_duration(value)}")'
    return _text(value, pause)


def _infinite(value: float) -> str:
    if math.isfinite(value):
        return ""
    return "NaN" if value != value else "+Inf" if value > 0 else "-Inf"


def _number(value: Any) -> float:
    if isinstance(value, str) and value in ("NaN", "Infinity", "-Infinity"):
        return float(value)
    if type(value) is not float:
        raise TypeError
    return value


def _fixed(value: Any, precision: int) -> str:
    number = _number(value)
    return _infinite(number).replace("+Inf", "∞").replace("-Inf", "-∞") or f"{number:.{precision}f}"


def _scientific(value: Any, precision: int) -> str:
    number = _number(value)
    shown = _infinite(number).replace("+Inf", "∞").replace("-Inf", "-∞")
    if shown:
        return shown
    mantissa, exponent = f"{number:.{precision}e}".split("e")
    return f"{mantissa}\u00d710{exponent.lstrip('+').translate(_SUPERSCRIPT)}"


_SUPERSCRIPT = str.maketrans("0123456789+-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻")


def _integer(value: Any, _: int) -> str:
    return str(int(_whole(value)))


def _whole(value: Any) -> int:
    if type(value) is not int and type(value) is not UInt:
        raise TypeError
    return int(value)


def _binary(value: Any, _: int) -> str:
    return f"{int(value) if type(value) is bool else _whole(value):b}"


def _octal(value: Any, _: int) -> str:
    return f"{_whole(value):o}"


def _hex(value: Any, _: int) -> str:
    if isinstance(value, str | bytes):
        return (value.encode() if isinstance(value, str) else value).hex()
    return f"{_whole(value):x}"


_CLAUSES: dict[str, Callable[[Any, int], str]] = {
    "d": _integer,
    "f": _fixed,
    "e": _scientific,
    "b": _binary,
    "o": _octal,
    "x": _hex,
    "X": lambda value, precision: _hex(value, precision).upper(),
}
_REFUSALS = {
    "s": "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and"
    " timestamps",
    "d": "decimal clause can only be used on integers",
    "f": "fixed-point clause can only be used on doubles",
    "e": "scientific clause can only be used on doubles",
    "b": "only integers and bools can be formatted as binary",
    "o": "octal clause can only be used on integers",
    "x": "only integers, byte buffers, and strings can be formatted as hex",
    "X": "only integers, byte buffers, and strings can be formatted as hex",
}
_INTEGERS = frozenset(("int", "uint"))
_DOUBLES = frozenset(("double", "string"))
_HEXES = frozenset(("int", "uint", "string", "bytes"))
_TEXTS = frozenset(
    (
        "bool",
        "int",
        "uint",
        "double",
        "string",
        "bytes",
        "list",
        "map",
        "type",
        "null_type",
        DURATION.name,
        TIMESTAMP.name,
    )
)
_TAKEN = {
    "s": _TEXTS,
    "d": _INTEGERS,
    "f": _DOUBLES,
    "e": _DOUBLES,
    "b": frozenset(("int", "uint", "bool")),
    "o": _INTEGERS,
    "x": _HEXES,
    "X": _HEXES,
}
