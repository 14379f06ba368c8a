"""Calls that are rewritten before they are checked, because they bind a name or look at how something is written.

A macro gets the call's place, what stands before its dot and its arguments, and gives the parts that stand for it.
Raises BadMacro when an argument is not what it must be.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hardpoint.machinery.cel.syntax import Bind, Call, Comprehension, Ident, Literal, Loop, Node, Select

ACCUMULATORS = ("__result__", "@result")
_SORTED_INPUT = "@__sortBy_input__"


class BadMacro(Exception):
    """What is wrong, and where."""

    def __init__(self, position: int, message: str) -> None:
        super().__init__(message)
        self.position = position


Macro = Callable[[int, Node, Sequence[Node]], Node]


def has(position: int, arguments: Sequence[Node]) -> Node:
    """`has(a.b)`: is the field there."""
    asked = arguments[0]
    if not isinstance(asked, Select) or asked.is_test:
        raise BadMacro(asked.position, "invalid argument to has() macro")
    return Select(position, asked.operand, asked.field, is_test=True)


def member_macro(name: str, argument_count: int) -> Macro | None:
    """The macro of that name, if `target.name(...)` with so many arguments is one."""
    return _MEMBERS.get((name, argument_count))


def _variable(node: Node, message: str = "argument must be a simple name") -> str:
    if not isinstance(node, Ident):
        raise BadMacro(node.position, message)
    if node.name in ACCUMULATORS:
        raise BadMacro(node.position, "iteration variable overwrites accumulator variable")
    return node.name


def _variables(first: Node, second: Node) -> tuple[str, str]:
    names = _variable(first), _variable(second)
    if names[0] == names[1]:
        raise BadMacro(second.position, f"duplicate variable name: {names[0]}")
    return names


def _quantifier(loop: Loop) -> Macro:
    def expand(position: int, target: Node, arguments: Sequence[Node]) -> Node:
        return Comprehension(position, loop, target, _variable(arguments[0]), None, None, arguments[1])

    return expand


def _map(position: int, target: Node, arguments: Sequence[Node]) -> Node:
    name = _variable(arguments[0], "argument is not an identifier")
    condition = arguments[1] if len(arguments) == 3 else None
    return Comprehension(position, Loop.LIST, target, name, None, condition, arguments[-1])


def _filter(position: int, target: Node, arguments: Sequence[Node]) -> Node:
    name = _variable(arguments[0], "argument is not an identifier")
    return Comprehension(position, Loop.FILTER, target, name, None, arguments[1], arguments[0])


def _two_variables(loop: Loop) -> Macro:
    def expand(position: int, target: Node, arguments: Sequence[Node]) -> Node:
        first, second = _variables(arguments[0], arguments[1])
        condition = arguments[2] if len(arguments) == 4 else None
        return Comprehension(position, loop, target, first, second, condition, arguments[-1])

    return expand


def _optional_map(name: str, *, is_flat: bool) -> Macro:
    """`o.optMap(v, f(v))` is `o.hasValue() ? optional.of(f(o.value())) : optional.none()`; flat leaves out the `of`."""

    def expand(position: int, target: Node, arguments: Sequence[Node]) -> Node:
        variable = arguments[0]
        if not isinstance(variable, Ident):
            raise BadMacro(variable.position, f"{name}() variable name must be a simple identifier")
        value = Call(position, "value", target, [])
        found: Node = Bind(position, variable.name, value, arguments[1])
        if not is_flat:
            found = Call(position, "optional.of", None, [found])
        none = Call(position, "optional.none", None, [])
        return Call(position, "_?_:_", None, [Call(position, "hasValue", target, []), found, none])

    return expand


def _sort_by(position: int, target: Node, arguments: Sequence[Node]) -> Node:
    if isinstance(target, Literal):
        message = "sortBy can only be applied to a list, identifier, comprehension, call or select expression"
        raise BadMacro(target.position, message)
    keys = _map(position, Ident(position, _SORTED_INPUT), arguments)
    ordered = Call(position, "@sortByAssociatedKeys", Ident(position, _SORTED_INPUT), [keys])
    return Bind(position, _SORTED_INPUT, target, ordered)


_MEMBERS: dict[tuple[str, int], Macro] = {
    ("all", 2): _quantifier(Loop.ALL),
    ("exists", 2): _quantifier(Loop.EXISTS),
    ("exists_one", 2): _quantifier(Loop.EXISTS_ONE),
    ("map", 2): _map,
    ("map", 3): _map,
    ("filter", 2): _filter,
    ("all", 3): _two_variables(Loop.ALL),
    ("exists", 3): _two_variables(Loop.EXISTS),
    ("exists_one", 3): _two_variables(Loop.EXISTS_ONE),
    ("existsOne", 3): _two_variables(Loop.EXISTS_ONE),
    ("transformList", 3): _two_variables(Loop.LIST),
    ("transformList", 4): _two_variables(Loop.LIST),
    ("transformMap", 3): _two_variables(Loop.MAP),
    ("transformMap", 4): _two_variables(Loop.MAP),
    ("transformMapEntry", 3): _two_variables(Loop.MAP_ENTRIES),
    ("transformMapEntry", 4): _two_variables(Loop.MAP_ENTRIES),
    ("optMap", 2): _optional_map("optMap", is_flat=False),
    ("optFlatMap", 2): _optional_map("optFlatMap", is_flat=True),
    ("sortBy", 2): _sort_by,
}
