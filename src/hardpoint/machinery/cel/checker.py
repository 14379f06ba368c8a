"""Finds the type of every part of an expression, and every mistake that can be found without values.

The rules and the words are cel-go's; what Kubernetes forbids beyond them is in `validators.py`. All mistakes are told
at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from hardpoint.machinery.cel.errors import CompileError, Mistake
from hardpoint.machinery.cel.functions import Functions, Overload
from hardpoint.machinery.cel.syntax import (
    Bind,
    Call,
    Comprehension,
    Entry,
    Ident,
    ListOf,
    Literal,
    Loop,
    MapOf,
    Node,
    ObjectOf,
    Select,
)
from hardpoint.machinery.cel.types import (
    BOOL,
    BYTES,
    DOUBLE,
    DYN,
    ERROR,
    INT,
    NAMED,
    NULL,
    STRING,
    UINT,
    Kind,
    Type,
    list_of,
    map_of,
    optional_of,
    type_of,
)
from hardpoint.machinery.cel.unify import Unifier, most_general
from hardpoint.machinery.cel.validators import problems
from hardpoint.machinery.cel.values import UInt

MISTAKES_MAX = 100
_CLOSED = "kubernetes."
"""Types that cel-go takes for objects of which nobody declared the fields."""
_LITERALS: dict[type, Type] = {bool: BOOL, int: INT, UInt: UINT, float: DOUBLE, str: STRING, bytes: BYTES}
_TYPE_NAMES = {
    **NAMED,
    "list": list_of(DYN),
    "map": map_of(DYN, DYN),
    "type": type_of(DYN),
    "optional_type": optional_of(DYN),
}


def check(expression: str, root: Node, variables: Mapping[str, Type], functions: Functions) -> Type:
    """Complete the parts with their types and overloads; the type of the whole. Raises CompileError."""
    checker = _Checker(variables, functions)
    checker.visit(root)
    mistakes = checker.mistakes or problems(checker.settle())
    if mistakes:
        raise CompileError(expression, mistakes[:MISTAKES_MAX])
    return root.type


class _Checker:
    def __init__(self, variables: Mapping[str, Type], functions: Functions) -> None:
        self._scope: dict[str, Type] = dict(variables)
        self._functions = functions
        self._objects = _objects(variables.values())
        self._unifier = Unifier()
        self._seen: list[Node] = []
        self.mistakes: list[Mistake] = []

    def visit(self, node: Node) -> Type:
        node.type = self._type(node)
        self._seen.append(node)
        return node.type

    def settle(self) -> list[Node]:
        """Once all is known, no parameter is left. Returns all parts."""
        for node in self._seen:
            node.type = self._unifier.resolve(node.type, free_to_dyn=True)
        return self._seen

    def _wrong(self, position: int, message: str) -> Type:
        self.mistakes.append(Mistake(position, message))
        return ERROR

    def _mismatch(self, position: int, wanted: Type, found: Type) -> Type:
        return self._wrong(position, f"expected type '{wanted}' but found '{found}'")

    def _type(self, node: Node) -> Type:
        match node:
            case Literal():
                return NULL if node.value is None else _LITERALS[type(node.value)]
            case Ident():
                return self._ident(node)
            case Select():
                return self._select(node)
            case Call():
                return self._call(node)
            case ListOf():
                return self._list(node)
            case MapOf():
                return self._map(node)
            case ObjectOf():
                return self._object(node)
            case Comprehension():
                return self._comprehension(node)
            case Bind():
                return self._bind(node)
        raise AssertionError(f"no rule for {node!r}")

    def _ident(self, node: Ident) -> Type:
        name = node.name.removeprefix(".")
        if (known := self._scope.get(name)) is not None:
            node.name = name
            return known
        if (named := _TYPE_NAMES.get(name) or self._objects.get(name)) is not None:
            node.value = named
            return type_of(named)
        return self._wrong(node.position, f"undeclared reference to '{node.name}' (in container '')")

    def _select(self, node: Select) -> Type:
        qualified = _qualified(node)
        if qualified is not None and (known := self._scope.get(qualified)) is not None:
            node.variable = qualified
            return known
        if qualified is not None and qualified in _TYPE_NAMES and qualified.split(".")[0] not in self._scope:
            node.value = _TYPE_NAMES[qualified]
            return type_of(node.value)
        found = self._field(node.position, node.operand, node.field, is_optional=False)
        return BOOL if node.is_test else found

    def _field(self, position: int, operand: Node, field: str, *, is_optional: bool) -> Type:
        whole = self._unifier.resolve(self.visit(operand))
        target = whole.unwrapped
        found = DYN
        match target.kind:
            case Kind.MAP:
                found = target.parameters[1]
            case Kind.OBJECT:
                found = target.field(field) or self._wrong(position, f"undefined field '{field}'")
            case Kind.PARAMETER:
                self._unifier.assign(DYN, target)
            case Kind.DYN | Kind.ERROR:
                pass
            case Kind.OPAQUE if target.name.startswith(_CLOSED):
                self._wrong(position, f"unexpected failed resolution of '{target}'")
            case _:
                self._wrong(position, f"type '{target}' does not support field selection")
        return optional_of(found) if whole.is_optional or is_optional else found

    def _call(self, node: Call) -> Type:
        if node.function == "_?._":
            operand, field = node.arguments
            assert isinstance(field, Literal)
            return self._field(node.position, operand, field.value, is_optional=True)
        for argument in node.arguments:
            self.visit(argument)
        self._resolve_name(node)
        if node.function not in self._functions:
            if node.target is not None:
                self.visit(node.target)
            return self._wrong(node.position, f"undeclared reference to '{node.function}' (in container '')")
        if node.function in ("_&&_", "_||_"):
            return self._logic(node)
        if node.target is not None:
            self.visit(node.target)
        return self._overload(node)

    def _resolve_name(self, node: Call) -> None:
        """`ip.isCanonical(x)` looks like a member of `ip`, but is one function."""
        node.function = node.function.removeprefix(".")
        if node.target is not None and (prefix := _qualified(node.target)) is not None:
            name = f"{prefix}.{node.function}"
            if name in self._functions:
                node.function, node.target = name, None

    def _logic(self, node: Call) -> Type:
        result = BOOL
        for argument in node.arguments:
            if not self._unifier.assign(argument.type, BOOL):
                result = self._mismatch(argument.position, BOOL, argument.type)
        return result

    def _overload(self, node: Call) -> Type:
        operands = [operand.type for operand in node.operands]
        matching: list[Overload] = []
        result: Type | None = None
        for overload in self._functions[node.function]:
            if overload.is_member is not (node.target is not None):
                continue
            found, *parameters = self._unifier.instance(overload.result, *overload.parameters)
            if self._unifier.assign_all(operands, parameters):
                matching.append(overload)
                found = self._unifier.resolve(found)
                result = found if result is None or result == found else DYN
        if result is None:
            return self._no_overload(node, operands)
        node.overloads = tuple(matching)
        if node.function == "_+_" and result.kind is Kind.LIST:
            # A set or a map to which something is added is one still.
            return replace(result, keys=operands[0].keys)
        return result

    def _no_overload(self, node: Call, operands: Sequence[Type]) -> Type:
        shown = [str(self._unifier.resolve(operand, free_to_dyn=True)) for operand in operands]
        target = f"{shown.pop(0)}." if node.target is not None else ""
        signature = f"{target}({', '.join(shown)})"
        return self._wrong(node.position, f"found no matching overload for '{node.function}' applied to '{signature}'")

    def _list(self, node: ListOf) -> Type:
        joined: Type | None = None
        for index, item in enumerate(node.items):
            found = self.visit(item)
            if index in node.optionals:
                found = self._unwrap(item, found)
            joined = self._join(joined, found)
        return list_of(self._unifier.fresh() if joined is None else joined)

    def _map(self, node: MapOf) -> Type:
        keys: Type | None = None
        values: Type | None = None
        for entry in node.entries:
            keys = self._join(keys, self.visit(entry.key))
            values = self._join(values, self._entry_value(entry))
        if keys is None or values is None:
            return map_of(self._unifier.fresh(), self._unifier.fresh())
        return map_of(keys, values)

    def _entry_value(self, entry: Entry) -> Type:
        found = self.visit(entry.value)
        return self._unwrap(entry.value, found) if entry.is_optional else found

    def _unwrap(self, node: Node, found: Type) -> Type:
        if not found.is_optional and not found.is_dyn:
            self._mismatch(node.position, optional_of(found), found)
        return found.unwrapped

    def _join(self, previous: Type | None, found: Type) -> Type:
        if previous is None:
            return found
        # What holds several types is found wrong later, where it is not to be formatted.
        return most_general(previous, found) if self._unifier.assign(previous, found) else DYN

    def _object(self, node: ObjectOf) -> Type:
        known = self._objects.get(node.name.removeprefix("."))
        if known is None:
            return self._wrong(node.position, f"undeclared reference to '{node.name}' (in container '')")
        for entry in node.entries:
            self._object_field(known, entry)
        return known

    def _object_field(self, known: Type, entry: Entry) -> None:
        assert isinstance(entry.key, Literal)
        name = entry.key.value
        found = self._entry_value(entry)
        if (wanted := known.field(name)) is None:
            self._wrong(entry.position, f"undefined field '{name}'")
        elif not self._unifier.assign(wanted, found):
            message = f"expected type of field '{name}' is '{wanted}' but provided type is '{found}'"
            self._wrong(entry.position, message)

    def _bind(self, node: Bind) -> Type:
        found = self.visit(node.value)
        return self._within({node.name: found}, lambda: self.visit(node.body))

    def _comprehension(self, node: Comprehension) -> Type:
        whole = self._unifier.resolve(self.visit(node.range))
        first, second = self._iterated(node, whole)
        names = {node.first: first} if node.second is None else {node.first: first, node.second: second}
        return self._within(names, lambda: self._loop(node, first))

    def _iterated(self, node: Comprehension, whole: Type) -> tuple[Type, Type]:
        match whole.kind:
            case Kind.LIST:
                return (whole.parameters[0], DYN) if node.second is None else (INT, whole.parameters[0])
            case Kind.MAP:
                return whole.parameters[0], whole.parameters[1]
            case Kind.DYN | Kind.ERROR | Kind.PARAMETER:
                self._unifier.assign(DYN, whole)
                return DYN, DYN
        message = f"expression of type '{whole}' cannot be range of a comprehension (must be list, map, or dynamic)"
        self._wrong(node.range.position, message)
        return ERROR, ERROR

    def _loop(self, node: Comprehension, first: Type) -> Type:
        condition = None if node.condition is None else self.visit(node.condition)
        body = self.visit(node.body)
        match node.loop:
            case Loop.ALL | Loop.EXISTS:
                return BOOL if self._unifier.assign(body, BOOL) else self._mismatch(node.body.position, BOOL, body)
            case Loop.EXISTS_ONE:
                self._check_condition(node, body, INT)
                return BOOL
            case Loop.MAP:
                result = map_of(first if node.second is not None else INT, body)
            case Loop.MAP_ENTRIES:
                result = map_of(self._unifier.fresh(), self._unifier.fresh())
                if not self._unifier.assign(result, body):
                    return self._wrong(
                        node.position,
                        f"found no matching overload for 'cel.@mapInsert' applied to '(map(dyn, dyn), {body})'",
                    )
            case Loop.LIST | Loop.FILTER:
                result = list_of(body)
        if condition is not None:
            self._check_condition(node, condition, result)
        return self._unifier.resolve(result)

    def _check_condition(self, node: Comprehension, condition: Type, result: Type) -> None:
        if not self._unifier.assign(condition, BOOL):
            shown = self._unifier.resolve(result, free_to_dyn=True)
            signature = f"({condition}, {shown}, {shown})"
            self._wrong(node.position, f"found no matching overload for '_?_:_' applied to '{signature}'")

    def _within(self, names: Mapping[str, Type], visit: Any) -> Type:
        outer = self._scope
        self._scope = {**outer, **names}
        found: Type = visit()
        self._scope = outer
        return found


def _qualified(node: Node) -> str | None:
    """`a.b.c` for what is written so, and may be one name."""
    names: list[str] = []
    while isinstance(node, Select) and not node.is_test:
        names.append(node.field)
        node = node.operand
    return ".".join((node.name, *reversed(names))) if isinstance(node, Ident) else None


def _objects(types: Any) -> dict[str, Type]:
    """All object types that are in these types, by name."""
    found: dict[str, Type] = {}
    unseen = list(types)
    while unseen:
        type = unseen.pop()
        unseen += type.parameters
        if type.kind is Kind.OBJECT and type.name not in found:
            found[type.name] = type
            unseen += [field for _, field in type.fields]
    return found
