"""Python expressions, written the way formatters write them: on one line if they fit, else a line for each item."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

WIDTH = 88
INDENT = "    "


@dataclass(frozen=True, slots=True)
class Expr:
    """`head item, item tail`; without items only its head."""

    head: str
    items: tuple[Expr, ...] = ()
    tail: str = ""
    ends_in_comma: bool = True
    """Whether the last of several lines ends in a comma; in `list[X]` that would make a tuple."""
    is_optional: bool = False
    """Whether ` | None` comes behind it."""

    def flat(self) -> str:
        inside = ", ".join(item.flat() for item in self.items)
        return f"{self.head}{inside}{self.tail}{' | None' if self.is_optional else ''}"

    def laid_out(self, indent: str, room_taken: int = 0) -> str:
        """The text, whose first line begins where the caller is; `room_taken` counts what else is on that line."""
        flat = self.flat()
        if not self.items or len(indent) + room_taken + len(flat) <= WIDTH:
            return flat
        if self.is_optional:
            return f"{replace(self, is_optional=False).laid_out(indent)}\n{indent}| None"
        inner = indent + INDENT
        comma = "," if self.ends_in_comma else ""
        lines = [f"{inner}{item.laid_out(inner, len(comma))}{comma}" for item in self.items]
        return "\n".join([self.head, *lines, f"{indent}{self.tail}"])

    def prefixed(self, words: str) -> Expr:
        return replace(self, head=words + self.head)

    def optional(self) -> Expr:
        return replace(self, is_optional=True)


def call(name: str, items: Iterable[Expr] = (), named: Mapping[str, Expr] = MappingProxyType({})) -> Expr:
    """`name(item, key=value)`."""
    given = (*items, *(value.prefixed(f"{key}=") for key, value in named.items()))
    return Expr(f"{name}(", given, ")") if given else Expr(f"{name}()")


def subscript(name: str, *items: Expr) -> Expr:
    """`name[item, item]`."""
    return Expr(f"{name}[", items, "]", ends_in_comma=len(items) > 1)


def literal(value: Any) -> Expr:
    """A JSON value as Python writes it."""
    if isinstance(value, Mapping):
        return mapped({key: literal(item) for key, item in value.items()})
    if isinstance(value, list):
        return listed([literal(item) for item in value])
    return Expr(text(value) if isinstance(value, str) else repr(value))


def listed(items: Sequence[Expr]) -> Expr:
    return Expr("[", tuple(items), "]") if items else Expr("[]")


def mapped(items: Mapping[str, Expr]) -> Expr:
    pairs = tuple(item.prefixed(f"{text(key)}: ") for key, item in items.items())
    return Expr("{", pairs, "}") if pairs else Expr("{}")


def text(value: str) -> str:
    """A string literal in double quotes, raw where that spares backslashes."""
    if "\\" in value and value.isprintable() and '"' not in value and not value.endswith("\\"):
        return f'r"{value}"'
    plain = repr(value)
    if plain[0] == '"' or '"' in value:
        return plain
    return f'"{plain[1:-1]}"'
