"""Loops spelled out: what a comprehension starts with, asks before each round, does in it, and makes of the result.

The evaluator has quicker ways to go through a list. These are the parts that cel-go makes of a loop and whose costs it
adds up, so that an estimate must look at them one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

from hardpoint.machinery.cel.functions import Overload
from hardpoint.machinery.cel.library import FUNCTIONS
from hardpoint.machinery.cel.syntax import Call, Comprehension, Ident, ListOf, Literal, Loop, MapOf, Node
from hardpoint.machinery.cel.types import BOOL, INT, Kind, Type, list_of

N = TypeVar("N", bound=Node)

ACCUMULATOR = "@result"


class Fold(NamedTuple):
    start: Node
    condition: Node
    step: Node
    result: Node


def spelled_out(loop: Comprehension) -> Fold:
    """The parts of a checked loop. They share the body and the condition with it."""
    return _FOLDS[loop.loop](loop)


def _all(loop: Comprehension) -> Fold:
    so_far = _accumulator(loop, BOOL)
    return Fold(
        _literal(True, BOOL),
        _call("@not_strictly_false", BOOL, so_far),
        _call("_&&_", BOOL, so_far, loop.body),
        so_far,
    )


def _exists(loop: Comprehension) -> Fold:
    so_far = _accumulator(loop, BOOL)
    return Fold(
        _literal(False, BOOL),
        _call("@not_strictly_false", BOOL, _call("!_", BOOL, so_far)),
        _call("_||_", BOOL, so_far, loop.body),
        so_far,
    )


def _exists_one(loop: Comprehension) -> Fold:
    count, one = _accumulator(loop, INT), _literal(1, INT)
    more = _call("_+_", INT, count, one)
    return Fold(
        _literal(0, INT),
        _literal(True, BOOL),
        _call("_?_:_", INT, loop.body, more, count),
        _call("_==_", BOOL, count, one),
    )


def _list(loop: Comprehension) -> Fold:
    items = _accumulator(loop, loop.type)
    item = _typed(ListOf(loop.position, [loop.body], frozenset()), list_of(loop.body.type))
    start = _typed(ListOf(loop.position, [], frozenset()), loop.type)
    return _collected(loop, start, items, _call("_+_", loop.type, items, item))


def _map(loop: Comprehension) -> Fold:
    entries = _accumulator(loop, loop.type)
    key = _typed(Ident(loop.position, loop.first), loop.type.parameters[0])
    return _collected(loop, _empty_map(loop), entries, _call("cel.@mapInsert", loop.type, entries, key, loop.body))


def _map_entries(loop: Comprehension) -> Fold:
    entries = _accumulator(loop, loop.type)
    return _collected(loop, _empty_map(loop), entries, _call("cel.@mapInsert", loop.type, entries, loop.body))


def _collected(loop: Comprehension, start: Node, so_far: Ident, step: Node) -> Fold:
    if loop.condition is not None:
        step = _call("_?_:_", loop.type, loop.condition, step, so_far)
    return Fold(start, _literal(True, BOOL), step, so_far)


def _accumulator(loop: Comprehension, type: Type) -> Ident:
    return _typed(Ident(loop.position, ACCUMULATOR), type)


def _empty_map(loop: Comprehension) -> MapOf:
    return _typed(MapOf(loop.position, []), loop.type)


def _literal(value: Any, type: Type) -> Literal:
    return _typed(Literal(-1, value), type)


def _call(function: str, type: Type, *arguments: Node) -> Call:
    made = _typed(Call(-1, function, None, list(arguments)), type)
    made.overloads = _fitting(function, arguments)
    return made


def _fitting(function: str, arguments: Sequence[Node]) -> tuple[Overload, ...]:
    known = FUNCTIONS.get(function, ())
    kinds = [argument.type for argument in arguments]
    return tuple(
        each for each in known if len(each.parameters) == len(kinds) and all(map(_fits, each.parameters, kinds))
    )


def _fits(parameter: Type, type: Type) -> bool:
    return parameter.kind is Kind.PARAMETER or (parameter.kind is type.kind and parameter.name == type.name)


def _typed(node: N, type: Type) -> N:
    node.type = type
    return node


_FOLDS: dict[Loop, Callable[[Comprehension], Fold]] = {
    Loop.ALL: _all,
    Loop.EXISTS: _exists,
    Loop.EXISTS_ONE: _exists_one,
    Loop.LIST: _list,
    Loop.FILTER: _list,
    Loop.MAP: _map,
    Loop.MAP_ENTRIES: _map_entries,
}
