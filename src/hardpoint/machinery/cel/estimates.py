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
from hardpoint.machinery.cel.folds import ACCUMULATOR, Fold, spelled_out
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
)
from hardpoint.machinery.cel.trails import NOWHERE, Path, Trail
from hardpoint.machinery.cel.types import BOOL, DOUBLE, INT, UINT, Kind, Type

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

    trail: Trail
    size: Range | None
    entries: _Entries | None = None


class _Estimator:
    def __init__(self, sizes: Sizes) -> None:
        self._ask = sizes
        self._locals: dict[str, _Local] = {}
        self._trails: dict[int, Trail] = {}
        self._sizes: dict[int, Range] = {}
        self._entries: dict[int, _Entries] = {}
        self._folds: list[Fold] = []
        """Kept, so that no other part gets the identity of one that is gone."""

    def cost(self, node: Node) -> Range:
        match node:
            case Ident():
                local = self._locals.get(node.name)
                self._trails[id(node)] = Trail([node.name], 1) if local is None else local.trail
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
        if node.value is not None or node.variable:
            self._trails[id(node)] = Trail([node.variable], 1)
            return ONE
        below = self.cost(node.operand)
        if node.is_test:
            return below
        self._trails[id(node)] = self._trail(node.operand).then(node.field)
        return below.plus(ONE) if node.operand.type.kind in (Kind.MAP, Kind.OBJECT) else below

    def _list(self, node: ListOf) -> Range:
        total, widest = exactly(LIST), NEVER if node.items else NOTHING
        for item in node.items:
            total = total.plus(self.cost(item))
            widest = widest.union(self._size_or_unknown(item))
        self._entries[id(node)] = _Entries(Kind.LIST, ONE, widest)
        return total

    def _map(self, node: MapOf) -> Range:
        total, keys, values = exactly(MAP), *[NEVER if node.entries else NOTHING] * 2
        for entry in node.entries:
            total = total.plus(self.cost(entry.key)).plus(self.cost(entry.value))
            keys = keys.union(self._size_or_unknown(entry.key))
            values = values.union(self._size_or_unknown(entry.value))
        self._entries[id(node)] = _Entries(Kind.MAP, keys, values)
        return total

    def _call(self, node: Call) -> Range:
        costs, sizes = self._operands(node)
        match node.function:
            case "dyn":
                self._become(node, node.arguments[0])
                return costs[0].plus(ONE)
            case "_&&_" | "_||_":
                return Range(costs[0].min, _total(costs).max)
            case "_?_:_":
                return self._conditional(node, costs, sizes)
        if node.function == "_+_":
            self._join_entries(node, node.arguments)
        return _total(costs).plus(self._function(node, sizes))

    def _operands(self, node: Call) -> tuple[list[Range], list[Range | None]]:
        """Their costs and their sizes, each as it is known once all before it were looked at: the target comes last."""
        costs, sizes = [], []
        for operand in node.arguments if node.target is None else (*node.arguments, node.target):
            costs.append(self.cost(operand))
            sizes.append(self._size(operand))
        if node.target is not None:
            costs, sizes = [costs[-1], *costs[:-1]], [sizes[-1], *sizes[:-1]]
        return costs, sizes

    def _conditional(self, node: Call, costs: Sequence[Range], sizes: Sequence[Range | None]) -> Range:
        self._join_entries(node, node.arguments[1:])
        chosen = [UNKNOWN if size is None else size for size in sizes[1:]]
        self._sizes[id(node)] = chosen[0].union(chosen[1])
        return costs[0].plus(costs[1].union(costs[2]))

    def _join_entries(self, node: Node, parts: Sequence[Node]) -> None:
        first, second = (self._entries_of(part) for part in parts)
        if first is not None and second is not None:
            joined = first.key.union(second.key), first.value.union(second.value)
            self._entries[id(node)] = _Entries(first.kind, *joined)

    def _function(self, node: Call, sizes: Sequence[Range | None]) -> Range:
        """Whichever overload is meant."""
        if not node.overloads:
            return ONE
        operands = [self._operand(operand, known) for operand, known in zip(node.operands, sizes, strict=True)]
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
        self._trails[id(node)] = self._trail(whole).then("@items" if container.kind is Kind.LIST else "@values")
        entries = self._entries_of(whole)
        return None if entries is None else entries.value

    def _operand(self, node: Node, known: Range | None) -> Operand:
        path = self._trail(node).path
        item = self._ask((*path, "@items")) if path else None
        return Operand(node, known, UNKNOWN if item is None else item)

    def _comprehension(self, node: Comprehension) -> Range:
        fold = spelled_out(node)
        self._folds.append(fold)
        total = self.cost(node.range).plus(self.cost(fold.start))
        outer = self._locals
        so_far = self._bound(fold.start)
        self._locals = {**outer, ACCUMULATOR: so_far, **self._iterated(node)}
        each = self.cost(fold.condition).plus(self.cost(fold.step))
        self._locals = {**outer, ACCUMULATOR: so_far}
        total = total.plus(self.cost(fold.result))
        self._locals = outer
        rounds = self._size_or_unknown(node.range)
        self._sizes[id(node)] = ONE if isinstance(fold.start, Literal) else rounds
        if not isinstance(fold.start, Literal) and (entries := self._entries_of(fold.step)) is not None:
            self._entries[id(node)] = entries
        return total.plus(rounds.times(each))

    def _iterated(self, node: Comprehension) -> dict[str, _Local]:
        """The variables of a loop."""
        entries, trail = self._entries_of(node.range), self._trail(node.range)
        key_size, value_size = (None, None) if entries is None else (entries.key, entries.value)
        is_list = (node.range.type.kind if entries is None else entries.kind) is Kind.LIST
        key_name, value_name = ("@indices", "@items") if is_list else ("@keys", "@values")
        if node.second is not None:
            first = _Local(trail.then(key_name), key_size)
            return {node.first: first, node.second: _Local(trail.then(value_name), value_size)}
        if is_list:
            return {node.first: _Local(trail.then(value_name), value_size)}
        return {node.first: _Local(trail.then(key_name), key_size)}

    def _bind(self, node: Bind) -> Range:
        total = exactly(LIST).plus(self.cost(node.value))
        outer = self._locals
        self._locals = {**outer, node.name: self._bound(node.value)}
        total = total.plus(self.cost(node.body))
        self._locals = outer
        self._become(node, node.body)
        return total

    def _bound(self, node: Node) -> _Local:
        return _Local(self._trail(node), self._size(node), self._entries_of(node))

    def _become(self, node: Node, other: Node) -> None:
        if (size := self._size(other)) is not None:
            self._sizes[id(node)] = size
        if (entries := self._entries_of(other)) is not None:
            self._entries[id(node)] = entries

    def _trail(self, node: Node) -> Trail:
        if isinstance(node, Ident) and (local := self._locals.get(node.name)) is not None:
            return local.trail
        return self._trails.get(id(node), NOWHERE)

    def _size_or_unknown(self, node: Node) -> Range:
        size = self._size(node)
        return UNKNOWN if size is None else size

    def _size(self, node: Node) -> Range | None:
        if (known := self._sizes.get(id(node))) is not None:
            return known
        if (written := _written_size(node)) is not None:
            return written
        path = self._trail(node).path
        if path and (asked := self._ask(path)) is not None:
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
