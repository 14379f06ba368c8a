"""What seems to be behind a difference, in few words, so that equal ones can be counted together.

A difference in one field of one kind is one cause, wherever in a list it happened and whatever value it was about.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

_INDEX = re.compile(r"\[\d+\]")
_ANY_VALUE = re.compile(r'"(?:[^"\\]|\\.)*"')
_MESSAGE_LENGTH_MAX = 160


def causes(wanted: list[Any], got: list[Any]) -> list[str]:
    """Why two normalized answers are not the same."""
    if wanted[0] != got[0]:
        return [f"code {wanted[0]} became {got[0]}: {_told(wanted if wanted[0] >= 300 else got)}"]
    if wanted[-1] != got[-1]:
        lost, came = _one_sided(wanted[-1], got[-1])
        return [f"warning missing: {_plain(text)}" for text in lost] + [
            f"warning extra: {_plain(text)}" for text in came
        ]
    if len(wanted) == 5 and len(got) == 5:
        return list(_refusal_causes(wanted, got))
    return [f"{path}: {change}" for path, change in changes(wanted[1], got[1], "")] or ["something else"]


def _refusal_causes(wanted: list[Any], got: list[Any]) -> Iterator[str]:
    if wanted[1] != got[1]:
        yield f"reason {wanted[1]} became {got[1]}"
    lost, came = _one_sided(wanted[3][1:], got[3][1:])
    yield from (f"cause missing: {_cause(cause)}" for cause in lost)
    yield from (f"cause extra: {_cause(cause)}" for cause in came)
    if wanted[3][0] != got[3][0]:
        yield f"details: {wanted[3][0]} became {got[3][0]}"
    if not lost and not came and wanted[2] != got[2]:
        yield f"message: {_plain(wanted[2])}" + (" (order)" if sorted(wanted[2]) == sorted(got[2]) else "")


def changes(wanted: Any, got: Any, path: str) -> Iterator[tuple[str, str]]:
    """Where two JSON values differ: the path, with `*` for a list's index, and what happened there."""
    if isinstance(wanted, dict) and isinstance(got, dict):
        for name in {**wanted, **got}:
            below = f"{path}.{name}" if path else name
            if name not in got:
                yield below, f"missing, should be {_short(wanted[name])}"
            elif name not in wanted:
                yield below, f"extra, is {_short(got[name])}"
            else:
                yield from changes(wanted[name], got[name], below)
    elif isinstance(wanted, list) and isinstance(got, list) and len(wanted) == len(got):
        for one, other in zip(wanted, got, strict=True):
            yield from changes(one, other, f"{path}.*")
    elif wanted != got or type(wanted) is not type(got):
        yield path, f"{_short(wanted)} became {_short(got)}"


def _one_sided(wanted: list[Any], got: list[Any]) -> tuple[list[Any], list[Any]]:
    """What only one list has, counted: the same twice is not the same once."""
    left, right = (Counter(tuple(each) if isinstance(each, list) else each for each in side) for side in (wanted, got))
    return list((left - right).elements()), list((right - left).elements())


def _cause(cause: Any) -> str:
    reason, field, message = cause
    return f"{_INDEX.sub('[*]', field)}: {_plain(message)} ({reason})"


def _told(refusal: list[Any]) -> str:
    return _plain(refusal[2]) if isinstance(refusal[2], str) else str(refusal[1])[:_MESSAGE_LENGTH_MAX]


def _plain(message: str) -> str:
    return _ANY_VALUE.sub('"…"', _INDEX.sub("[*]", message))[:_MESSAGE_LENGTH_MAX]


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) < 60 else f"{text[:57]}..."
