"""A checked expression to the steps that evaluate it."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import Any

from hardpoint.machinery.cel import costs
from hardpoint.machinery.cel.calls import call, match
from hardpoint.machinery.cel.comparing import comparer, merged
from hardpoint.machinery.cel.errors import EvaluationError
from hardpoint.machinery.cel.frames import FIRST_VARIABLE, Frame, Step, asking, constant, new_frame
from hardpoint.machinery.cel.library.regex import compiled
from hardpoint.machinery.cel.logic import conditional, equality, junction, or_optional, or_value
from hardpoint.machinery.cel.loops import Plan, loop
from hardpoint.machinery.cel.paths import has, index, optional_index, select, select_optional
from hardpoint.machinery.cel.syntax import (
    Bind,
    Call,
    Comprehension,
    Entry,
    Ident,
    ListOf,
    Literal,
    MapOf,
    Node,
    ObjectOf,
    Select,
)
from hardpoint.machinery.cel.types import STRING, Kind
from hardpoint.machinery.cel.values import Optional, TypeValue, checked_key, is_in
from hardpoint.machinery.cel.weights import weighed

_FOLDED = frozenset(("bool", "bytes", "double", "duration", "dyn", "int", "string", "timestamp", "type", "uint"))
"""Conversions of what is written out are done once, and cost nothing."""


class Planner:
    """Makes the steps of one expression; `variables` tells afterwards where each variable is in the frame."""

    def __init__(self) -> None:
        self.variables: dict[str, int] = {}
        self.frame_size = FIRST_VARIABLE
        self._local: dict[str, int] = {}

    def step(self, node: Node) -> Step:
        match node:
            case Literal():
                return constant(node.value)
            case Ident():
                return self._ident(node)
            case Select():
                return self._select(node)
            case Call():
                return self._call(node)
            case ListOf():
                return self._list(node)
            case MapOf():
                return self._entries(node.entries, costs.MAP)
            case ObjectOf():
                return self._entries(node.entries, costs.OBJECT)
            case Comprehension():
                return self._comprehension(node)
            case Bind():
                return self._bind(node)
        raise AssertionError(f"no step for {node!r}")

    def _ident(self, node: Ident) -> Step:
        if node.value is not None:
            return constant(TypeValue(node.value.name))
        return self._variable(node.name)

    def _variable(self, name: str) -> Step:
        place = self._local.get(name)
        if place is None:
            place = self.variables.get(name)
        if place is None:
            place = self.variables[name] = self._place()
        return Step(itemgetter(place), costs.SELECT, base=costs.SELECT)

    def _place(self) -> int:
        self.frame_size += 1
        return self.frame_size - 1

    def _select(self, node: Select) -> Step:
        if node.value is not None:
            return constant(TypeValue(node.value.name))
        if node.variable:
            return self._variable(node.variable)
        operand = self.step(node.operand)
        return has(operand, node.field) if node.is_test else select(operand, node.field)

    def _call(self, node: Call) -> Step:
        if node.function == "_?._":
            field = node.arguments[1]
            assert isinstance(field, Literal)
            return select_optional(self.step(node.arguments[0]), field.value)
        operands = [self.step(operand) for operand in node.operands]
        match node.function:
            case "_&&_":
                return junction(operands, False)
            case "_||_":
                return junction(operands, True)
            case "_?_:_":
                return conditional(*operands)
            case "_==_" | "_!=_":
                left, right = map(weighed, operands, (argument.type for argument in node.arguments))
                return equality(left, right, node.function == "_==_", comparer(node.arguments[0].type))
            case "_+_" if (keys := node.arguments[0].type.keys) is not None:
                return _merge(operands[0], operands[1], keys)
            case "_[_]":
                return index(operands[0], operands[1])
            case "_[?_]":
                return optional_index(operands[0], operands[1])
            case "orValue":
                return or_value(operands[0], operands[1])
            case "or":
                return or_optional(operands[0], operands[1])
        if node.function == "@in" and operands[1].constant and node.arguments[1].type.kind is Kind.LIST:
            # Looking into a list that is written out is free: cel-go has made a set of it.
            return _lookup(operands[0], operands[1].run([]))
        if node.function == "matches" and operands[1].constant and node.operands[0].type == STRING:
            return match(operands[0], operands[1].run([]))
        if node.function in ("find", "findAll") and operands[1].constant:
            compiled(operands[1].run([]))
        made = call(node, operands)
        if node.function in _FOLDED and operands[0].constant:
            return constant(made.run(new_frame(FIRST_VARIABLE, costs.PER_CALL_MAX, None)))
        return made

    def _list(self, node: ListOf) -> Step:
        items = [self.step(item) for item in node.items]
        if node.optionals:
            return Step(_optional_items(items, node.optionals), costs.LIST + _total(items))
        runs = [item.run for item in items]
        if all(item.constant for item in items):
            return constant([run([]) for run in runs])
        return Step(lambda frame: [run(frame) for run in runs], costs.LIST + _total(items))

    def _entries(self, entries: Sequence[Entry], cost: int) -> Step:
        keys = [self.step(entry.key) for entry in entries]
        values = [self.step(entry.value) for entry in entries]
        is_optional = [entry.is_optional for entry in entries]
        pairs = [(key.run, value.run, may) for key, value, may in zip(keys, values, is_optional, strict=True)]

        def run(frame: Frame) -> dict[Any, Any]:
            made: dict[Any, Any] = {}
            for key, value, may_be_missing in pairs:
                name, found = checked_key(key(frame)), value(frame)
                if may_be_missing:
                    if not _as_optional(found).has_value:
                        continue
                    found = found.value()
                if name in made:
                    raise EvaluationError(f"Failed with repeated key: {name}")
                made[name] = found
            return made

        if cost == costs.MAP and not any(is_optional) and all(part.constant for part in (*keys, *values)):
            return constant(run([]))
        return Step(run, cost + _total(keys) + _total(values))

    def _comprehension(self, node: Comprehension) -> Step:
        whole = self.step(node.range)
        first = self._place()
        second = None if node.second is None else self._place()
        outer = self._local
        self._local = {**outer, node.first: first}
        if node.second is not None and second is not None:
            self._local[node.second] = second
        condition = None if node.condition is None else self.step(node.condition)
        plan = Plan(whole, condition, self.step(node.body), first, second)
        self._local = outer
        return loop(node.loop, plan)

    def _bind(self, node: Bind) -> Step:
        value = self.step(node.value)
        place = self._place()
        outer = self._local
        self._local = {**outer, node.name: place}
        body = self.step(node.body)
        self._local = outer
        first, second = value.run, body.run

        def run(frame: Frame) -> Any:
            frame[place] = first(frame)
            return second(frame)

        return Step(run, value.cost + body.cost)


def _total(steps: Sequence[Step]) -> int:
    return sum(step.cost for step in steps)


def _optional_items(items: Sequence[Step], optionals: frozenset[int]) -> Any:
    runs = [(item.run, index in optionals) for index, item in enumerate(items)]

    def run(frame: Frame) -> list[Any]:
        made: list[Any] = []
        for item, may_be_missing in runs:
            value = item(frame)
            if not may_be_missing:
                made.append(value)
            elif _as_optional(value).has_value:
                made.append(value.value())
        return made

    return run


def _as_optional(value: Any) -> Optional:
    if type(value) is not Optional:
        raise EvaluationError(f"cannot initialize optional list element from non-optional value {value}")
    return value


def _lookup(value: Step, container: Any) -> Step:
    run = value.run
    return Step(lambda frame: is_in(run(frame), container), value.cost)


def _merge(left: Step, right: Step, keys: Sequence[str]) -> Step:
    first, second = left.run, right.run
    return Step(asking(lambda frame: merged(first(frame), second(frame), keys)), left.cost + right.cost + 1)
