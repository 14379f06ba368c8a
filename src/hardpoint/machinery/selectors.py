"""Selectors as they are written: in text, in LabelSelector objects, in plain maps.

The text form, `app=web,tier in (a, b),!legacy,weight>3`, follows the grammar and the messages of
k8s.io/apimachinery/pkg/labels. What a Selector then does is told in `hardpoint.machinery.labels`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from hardpoint.machinery import names
from hardpoint.machinery.fielderrors import invalid, quote
from hardpoint.machinery.labels import EVERYTHING, NOTHING, BadSelector, Operator, Requirement, Selector, requirement

__all__ = ["EVERYTHING", "NOTHING", "BadSelector", "Selector", "from_label_selector", "from_map", "parse", "printed"]

_TOKEN = re.compile(r"[ \t\r\n]*+(==|!=|[=!(),<>]|[^=!(),<> \t\r\n]++)")
_OPERATORS: dict[str, Operator] = {
    "in": "in",
    "=": "=",
    "==": "==",
    ">": "gt",
    "<": "lt",
    "notin": "notin",
    "!=": "!=",
}
_EXPECTED_OPERATORS = "in, notin, =, ==, !=, gt, lt"
_SYMBOLS = frozenset({"==", "!=", "=", "!", "(", ")", ",", "<", ">"})
_END = ""
_CACHED_LENGTH_MAX = 512
_OBJECT_OPERATORS: Mapping[str, Operator] = {
    "In": "in",
    "NotIn": "notin",
    "Exists": "exists",
    "DoesNotExist": "!",
}


def parse(text: str) -> Selector:
    """The Selector a text stands for; an empty text selects everything. Raises BadSelector."""
    return _parse_cached(text) if len(text) <= _CACHED_LENGTH_MAX else _parse(text)


def _parse(text: str) -> Selector:
    return Selector(tuple(_Parser(text).requirements()))


_parse_cached = lru_cache(maxsize=1024)(_parse)


def from_label_selector(selector: Mapping[str, Any] | None) -> Selector:
    """The Selector of a LabelSelector; a missing one matches nothing, an empty one everything.

    Raises BadSelector for what `requirement` refuses and for operators that LabelSelectors do not have.
    """
    if selector is None:
        return NOTHING
    wanted = [requirement(key, "=", (value,)) for key, value in (selector.get("matchLabels") or {}).items()]
    for expression in selector.get("matchExpressions") or ():
        operator = _OBJECT_OPERATORS.get(expression.get("operator", ""))
        if operator is None:
            raise BadSelector(f"{quote(expression.get('operator', ''))} is not a valid label selector operator")
        wanted.append(requirement(expression.get("key", ""), operator, tuple(expression.get("values") or ())))
    return Selector(tuple(wanted))


def from_map(labels: Mapping[str, str] | None) -> Selector:
    """The Selector of a Service or a ReplicationController: every pair must be there. Nothing is checked."""
    return Selector(tuple(Requirement(key, "=", (value,)) for key, value in (labels or {}).items()))


def printed(selector: Mapping[str, Any] | None) -> str:
    """A LabelSelector as tables show it: `<none>` for one without requirements, `<error>` for a broken one."""
    try:
        return str(from_label_selector(selector)) or "<none>"
    except BadSelector:
        return "<error>"


class _Parser:
    """Reads tokens from left to right. Whatever is no symbol may be a key or a value, `in` and `notin` included."""

    def __init__(self, text: str) -> None:
        self._tokens = [match[1] for match in _TOKEN.finditer(text)]
        self._tokens.append(_END)
        self._position = 0

    def requirements(self) -> list[Requirement]:
        found: list[Requirement] = []
        while self._ahead() != _END:
            if not self._word_ahead() and self._ahead() != "!":
                raise BadSelector(f"found '{self._ahead()}', expected: !, identifier, or 'end of string'")
            found.append(self._requirement())
            separator = self._next()
            if separator == _END:
                break
            if separator != ",":
                raise BadSelector(f"found '{separator}', expected: ',' or 'end of string'")
            if not self._word_ahead() and self._ahead() != "!":
                raise BadSelector(f"found '{self._ahead()}', expected: identifier after ','")
        return found

    def _requirement(self) -> Requirement:
        try:
            return self._read_requirement()
        except BadSelector as cause:
            raise BadSelector(f"unable to parse requirement: {cause}") from cause

    def _read_requirement(self) -> Requirement:
        absent = self._ahead() == "!"
        if absent:
            self._next()
        key = self._key()
        if absent:
            return requirement(key, "!")
        if self._ahead() in (_END, ","):
            return requirement(key, "exists")
        written = self._next()
        operator = _OPERATORS.get(written)
        if operator is None:
            raise BadSelector(f"found '{written}', expected: {_EXPECTED_OPERATORS}")
        values = self._set() if operator in ("in", "notin") else {self._exact_value()}
        return requirement(key, operator, sorted(values))

    def _key(self) -> str:
        key = self._next()
        if not _is_word(key):
            raise BadSelector(f"found '{key}', expected: identifier")
        if wrong := names.label_key(key):
            raise BadSelector(str(invalid("<nil>", key, "; ".join(wrong))))
        return key

    def _exact_value(self) -> str:
        if self._ahead() in (_END, ","):
            return ""
        value = self._next()
        if not _is_word(value):
            raise BadSelector(f"found '{value}', expected: identifier")
        return value

    def _set(self) -> set[str]:
        if (token := self._next()) != "(":
            raise BadSelector(f"found '{token}' expected: '('")
        if self._ahead() == ")":
            self._next()
            return {""}
        if not self._word_ahead() and self._ahead() != ",":
            raise BadSelector(f"found '{self._ahead()}', expected: ',', ')' or identifier")
        values = self._listed()
        self._next()
        return values

    def _listed(self) -> set[str]:
        """What stands before the closing parenthesis; nothing between two commas is an empty value."""
        values: set[str] = set()
        while True:
            item = self._next()
            if _is_word(item):
                values.add(item)
                if self._ahead() == ")":
                    return values
                if self._ahead() != ",":
                    raise BadSelector(f"found '{self._ahead()}', expected: ',' or ')'")
            elif item == ",":
                if not values or self._ahead() in (")", ","):
                    values.add("")
                if self._ahead() == ")":
                    return values
            else:
                raise BadSelector(f"found '{item}', expected: ',', or identifier")

    def _ahead(self) -> str:
        return self._tokens[self._position]

    def _word_ahead(self) -> bool:
        return _is_word(self._ahead())

    def _next(self) -> str:
        token = self._tokens[self._position]
        self._position = min(self._position + 1, len(self._tokens) - 1)
        return token


def _is_word(token: str) -> bool:
    return token != _END and token not in _SYMBOLS
