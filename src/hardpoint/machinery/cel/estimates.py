"""What an expression may cost at least and at most, before there are values.

It knows how costs and sizes spread through an expression: from the parts to the whole, and from a list to the variable
that goes through it. What calls cost is in `library/estimates.py`; how big a variable may be is asked of the caller,
who knows the schema. The results are those of cel-go's estimator with kube-apiserver's libraries, because clusters
refuse rules by them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from hardpoint.machinery.cel.costs import LIST, MAP, OBJECT
from hardpoint.machinery.cel.folds import Fold, spelled_out
from hardpoint.machinery.cel.library.estimates import Operand, estimated
from hardpoint.machinery.cel.program import Program
from hardpoint.machinery.cel.ranges import NEVER, NOTHING, ONE, UNKNOWN, Range, exactly
from hardpoint.machinery.cel.syntax import (
    Bind,
    Call,
    Comprehension,
    Ident,
    ListOf,
    Literal,
    MapOf,
    Node,
    ObjectOf,
    Select,
    children,
)
from hardpoint.machinery.cel.types import BOOL, DOUBLE, INT, UINT, Kind, Type

Path = tuple[str, ...]
"""A variable, then names of fields, `@items` of a list, `@indices`, `@keys` and `@values` of a map."""
Sizes = Callable[[Path], Range | None]
_SCALARS = (BOOL, INT, UINT, DOUBLE)


def estimate(program: Program, sizes: Sizes) -> Range:
    """The least and the most that evaluating a program may cost.

    `sizes` tells how many characters, bytes, items or entries the value at a path may have, `Range(0, 0)` for what has
    no size, and None if it does not know. What goes through a value that is no variable's has a path that begins with
    `@items` or the like.
    """
    return _Estimator(sizes).cost(program.root)


class _Entries(NamedTuple):
    """The sizes of what is in a list or map that was made by the expression itself."""

    kind: Kind
    key: Range
    value: Range


@dataclass(frozen=True)
class _Local:
    """A variable of a loop or a binding."""

    path: Path
    size: Range | None
    entries: _Entries | None = None


class _Estimator:
    def __init__(self, sizes: Sizes) -> None:
        self._ask = sizes
        self._locals: dict[str, _Local] = {}
        self._paths: dict[int, Path] = {}
        self._sizes: dict[int, Range] = {}
        self._entries: dict[int, _Entries] = {}
        self._folds: list[Fold] = []
        """Kept, so that no other part gets the identity of one that is gone."""

    def cost(self, node: Node) -> Range:
        match node:
            case Ident():
                self._paths[id(node)] = self._path(node) or (node.name,)
                return ONE
            case Select():
                return self._select(node)
            case Call():
                return self._call(node)
            case ListOf():
                return self._list(node)
            case MapOf():
                return self._map(node)
            case ObjectOf():
                return self._sum([entry.value for entry in node.entries]).plus(exactly(OBJECT))
            case Comprehension():
                return self._comprehension(node)
            case Bind():
                return self._bind(node)
        return NOTHING

    def _sum(self, nodes: Sequence[Node]) -> Range:
        total = NOTHING
        for node in nodes:
            total = total.plus(self.cost(node))
        return total

    def _select(self, node: Select) -> Range:
        if node.value is not None:
            self._paths[id(node)] = (node.value.name,)
            return ONE
        below = self.cost(node.operand)
        if node.is_test:
            return below
        self._paths[id(node)] = (*self._path(node.operand), node.field)
        return below.plus(ONE) if node.operand.type.kind in (Kind.MAP, Kind.OBJECT) else below

    def _list(self, node: ListOf) -> Range:
        total = self._sum(node.items)
        self._entries[id(node)] = _Entries(Kind.LIST, ONE, self._widest(node.items))
        return total.plus(exactly(LIST))

    def _map(self, node: MapOf) -> Range:
        total = self._sum(children(node))
        keys, values = [entry.key for entry in node.entries], [entry.value for entry in node.entries]
        self._entries[id(node)] = _Entries(Kind.MAP, self._widest(keys), self._widest(values))
        return total.plus(exactly(MAP))

    def _widest(self, nodes: Sequence[Node]) -> Range:
        widest = NEVER if nodes else NOTHING
        for node in nodes:
            widest = widest.union(self._size_or_unknown(node))
        return widest

    def _call(self, node: Call) -> Range:
        costs = [self.cost(operand) for operand in node.operands]
        match node.function:
            case "dyn":
                self._become(node, node.arguments[0])
                return costs[0].plus(ONE)
            case "_&&_" | "_||_":
                return Range(costs[0].min, _total(costs).max)
            case "_?_:_":
                return self._conditional(node, costs)
        if node.function == "_+_":
            self._join_entries(node, node.arguments)
        return _total(costs).plus(self._function(node))

    def _conditional(self, node: Call, costs: Sequence[Range]) -> Range:
        chosen = node.arguments[1:]
        self._join_entries(node, chosen)
        self._sizes[id(node)] = self._widest(chosen)
        return costs[0].plus(costs[1].union(costs[2]))

    def _join_entries(self, node: Node, parts: Sequence[Node]) -> None:
        first, second = (self._entries_of(part) for part in parts)
        if first is not None and second is not None:
            joined = first.key.union(second.key), first.value.union(second.value)
            self._entries[id(node)] = _Entries(first.kind, *joined)

    def _function(self, node: Call) -> Range:
        """Whichever overload is meant."""
        if not node.overloads:
            return ONE
        operands = [self._operand(operand) for operand in node.operands]
        cost, size = NEVER, None
        for overload in node.overloads:
            found = estimated(overload, operands)
            cost = cost.union(found.cost)
            if found.size is not None:
                size = found.size if size is None else size.union(found.size)
            if node.function == "_[_]":
                size = self._looked_up(node, overload.parameters[0])
            if size is None:
                size = self._size(node)
        if size is not None:
            self._sizes[id(node)] = size
        return cost

    def _looked_up(self, node: Call, container: Type) -> Range | None:
        whole = node.arguments[0]
        if container.kind not in (Kind.LIST, Kind.MAP):
            return None
        self._paths[id(node)] = (*self._path(whole), "@items" if container.kind is Kind.LIST else "@values")
        entries = self._entries_of(whole)
        return None if entries is None else entries.value

    def _operand(self, node: Node) -> Operand:
        path = self._path(node)
        item = self._asked((*path, "@items")) if path else None
        return Operand(node, self._size(node), UNKNOWN if item is None else item)

    def _comprehension(self, node: Comprehension) -> Range:
        fold = spelled_out(node)
        self._folds.append(fold)
        total = self.cost(node.range).plus(self.cost(fold.start))
        outer = self._locals
        so_far = _Local(self._path(fold.start), self._size(fold.start), self._entries_of(fold.start))
        self._locals = {**outer, "@result": so_far, **self._iterated(node)}
        each = self.cost(fold.condition).plus(self.cost(fold.step))
        self._locals = {**outer, "@result": so_far}
        total = total.plus(self.cost(fold.result))
        self._locals = outer
        rounds = self._size_or_unknown(node.range)
        self._sizes[id(node)] = ONE if isinstance(fold.start, Literal) else rounds
        if not isinstance(fold.start, Literal) and (entries := self._entries_of(fold.step)) is not None:
            self._entries[id(node)] = entries
        return total.plus(rounds.times(each))

    def _iterated(self, node: Comprehension) -> dict[str, _Local]:
        """The variables of a loop."""
        entries, path = self._entries_of(node.range), self._path(node.range)
        is_list = (node.range.type.kind if entries is None else entries.kind) is Kind.LIST
        key = _Local((*path, "@indices" if is_list else "@keys"), None if entries is None else entries.key)
        value = _Local((*path, "@items" if is_list else "@values"), None if entries is None else entries.value)
        if node.second is not None:
            return {node.first: key, node.second: value}
        return {node.first: value if is_list else key}

    def _bind(self, node: Bind) -> Range:
        total = exactly(LIST).plus(self.cost(node.value))
        outer = self._locals
        bound = _Local(self._path(node.value), self._size(node.value), self._entries_of(node.value))
        self._locals = {**outer, node.name: bound}
        total = total.plus(self.cost(node.body))
        self._locals = outer
        self._become(node, node.body)
        return total

    def _become(self, node: Node, other: Node) -> None:
        if (size := self._size(other)) is not None:
            self._sizes[id(node)] = size
        if (entries := self._entries_of(other)) is not None:
            self._entries[id(node)] = entries

    def _path(self, node: Node) -> Path:
        if isinstance(node, Ident) and (local := self._locals.get(node.name)) is not None:
            return local.path
        return self._paths.get(id(node), ())

    def _asked(self, path: Path) -> Range | None:
        return self._ask(path) if path else None

    def _size_or_unknown(self, node: Node) -> Range:
        size = self._size(node)
        return UNKNOWN if size is None else size

    def _size(self, node: Node) -> Range | None:
        if (known := self._sizes.get(id(node))) is not None:
            return known
        if (written := _written_size(node)) is not None:
            return written
        if (asked := self._asked(self._path(node))) is not None:
            self._sizes[id(node)] = asked
            return asked
        if _is_scalar(node.type):
            return ONE
        local = self._locals.get(node.name) if isinstance(node, Ident) else None
        return None if local is None else local.size

    def _entries_of(self, node: Node) -> _Entries | None:
        if (known := self._entries.get(id(node))) is not None:
            return known
        local = self._locals.get(node.name) if isinstance(node, Ident) else None
        return None if local is None else local.entries


def _total(costs: Sequence[Range]) -> Range:
    total = NOTHING
    for cost in costs:
        total = total.plus(cost)
    return total


def _written_size(node: Node) -> Range | None:
    """The size of what is written out."""
    match node:
        case Literal():
            return exactly(len(node.value) if isinstance(node.value, str | bytes) else 1)
        case ListOf():
            return exactly(len(node.items))
        case MapOf():
            return exactly(len(node.entries))
    return None


def _is_scalar(type: Type) -> bool:
    return type in _SCALARS or type.kind is Kind.MOMENT or (type.is_optional and _is_scalar(type.unwrapped))
