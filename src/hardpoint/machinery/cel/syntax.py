"""The parts of an expression, as the parser leaves them and the checker completes them.

Every part knows where it was written. Macros are gone by now: `x.all(e, ...)` is a Comprehension, and what only names a
value for a while is a Bind. The checker fills in `type`, and which overloads of its function a Call may mean.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from dataclasses import field as declared
from enum import Enum
from typing import TYPE_CHECKING, Any

from hardpoint.machinery.cel.types import DYN, Type

if TYPE_CHECKING:
    from hardpoint.machinery.cel.functions import Overload


@dataclass(slots=True)
class Node:
    """Any part."""

    position: int
    type: Type = declared(default=DYN, init=False)


@dataclass(slots=True)
class Literal(Node):
    value: Any


@dataclass(slots=True)
class Ident(Node):
    """A variable, or the name of a type; then `value` is that type."""

    name: str
    value: Type | None = declared(default=None, init=False)


@dataclass(slots=True)
class Select(Node):
    """A field of an object or a key of a map; `has(...)` only asks whether it is there.

    The name of a type may be written so too, `google.protobuf.Timestamp`; then `value` is that type. So may that of a
    variable, `authorizer.requestResource`; then that is `variable`.
    """

    operand: Node
    field: str
    is_test: bool = False
    value: Type | None = declared(default=None, init=False)
    variable: str = declared(default="", init=False)


@dataclass(slots=True)
class Call(Node):
    """A function or an operator. `target` is what stands before the dot."""

    function: str
    target: Node | None
    arguments: list[Node]
    overloads: tuple[Overload, ...] = declared(default=(), init=False)

    @property
    def operands(self) -> list[Node]:
        return self.arguments if self.target is None else [self.target, *self.arguments]


@dataclass(slots=True)
class Entry:
    """A key and a value of a map or object; left out if it `is_optional` and has no value."""

    position: int
    key: Node
    value: Node
    is_optional: bool


@dataclass(slots=True)
class ListOf(Node):
    items: list[Node]
    optionals: frozenset[int]
    """Which items are left out if they have no value."""


@dataclass(slots=True)
class MapOf(Node):
    entries: list[Entry]


@dataclass(slots=True)
class ObjectOf(Node):
    """`Name{field: value}`. The keys are literals."""

    name: str
    entries: list[Entry]


class Loop(Enum):
    """What a comprehension makes of its range."""

    ALL = "all"
    EXISTS = "exists"
    EXISTS_ONE = "exists_one"
    LIST = "map"
    FILTER = "filter"
    MAP = "transformMap"
    MAP_ENTRIES = "transformMapEntry"


@dataclass(slots=True)
class Comprehension(Node):
    """Goes through a list, or the keys of a map; with `second`, through indices or keys together with their values."""

    loop: Loop
    range: Node
    first: str
    second: str | None
    condition: Node | None
    body: Node


@dataclass(slots=True)
class Bind(Node):
    """Evaluates `body` with `name` standing for `value`."""

    name: str
    value: Node
    body: Node


def children(node: Node) -> list[Node]:
    """The parts that a part is made of."""
    match node:
        case Select():
            return [node.operand]
        case Call():
            return node.operands
        case ListOf():
            return node.items
        case MapOf() | ObjectOf():
            return [part for entry in node.entries for part in (entry.key, entry.value)]
        case Comprehension():
            return [node.range, node.body, *([] if node.condition is None else [node.condition])]
        case Bind():
            return [node.value, node.body]
    return []


def descendants(node: Node) -> Iterator[tuple[Node, int]]:
    """A part and all that is in it, each with how deep it is."""
    unseen = [(node, 1)]
    while unseen:
        part, depth = unseen.pop()
        yield part, depth
        unseen += [(inner, depth + 1) for inner in children(part)]
