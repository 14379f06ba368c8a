"""What Kubernetes forbids beyond the rules of the language, in expressions whose types are known.

Lists and maps hold one type, except where they are only formatted; patterns, timestamps, durations and templates that
are written out are good ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from hardpoint.machinery.cel.errors import EvaluationError, Mistake
from hardpoint.machinery.cel.library.formatting import read_clauses
from hardpoint.machinery.cel.syntax import Call, ListOf, Literal, MapOf, Node, descendants
from hardpoint.machinery.cel.types import Kind, Type

_TRIED = frozenset(("duration", "timestamp", "matches"))


def problems(nodes: Sequence[Node]) -> list[Mistake]:
    """Everything wrong with these parts."""
    formatted = [node for node in nodes if isinstance(node, Call) and node.function == "format"]
    exempt = {id(inner) for node in formatted for inner, _ in descendants(node)}
    found: list[Mistake] = []
    for node in nodes:
        if isinstance(node, ListOf | MapOf) and id(node) not in exempt:
            found += _mixed(node)
        elif isinstance(node, Call) and node.function in _TRIED:
            found += _bad_literal(node)
    return found + [mistake for node in formatted for mistake in _bad_template(node)]


def _mixed(node: ListOf | MapOf) -> Iterator[Mistake]:
    if isinstance(node, ListOf):
        yield from _unlike([(item, index in node.optionals) for index, item in enumerate(node.items)])
    else:
        yield from _unlike([(entry.key, False) for entry in node.entries])
        yield from _unlike([(entry.value, entry.is_optional) for entry in node.entries])


def _unlike(items: Sequence[tuple[Node, bool]]) -> Iterator[Mistake]:
    """The first of these parts whose type is not that of the first; those marked are optionals of it."""
    types = [node.type.unwrapped if is_optional else node.type for node, is_optional in items]
    for (node, _), type in zip(items, types, strict=True):
        if not _equivalent(types[0], type):
            yield Mistake(node.position, f"expected type '{types[0]}' but found '{type}'")
            return


def _equivalent(first: Type, second: Type) -> bool:
    if first.kind is Kind.PARAMETER or second.kind is Kind.PARAMETER:
        return True
    same = first.kind is second.kind and first.name == second.name
    return same and all(map(_equivalent, first.parameters, second.parameters))


def _bad_literal(node: Call) -> Iterator[Mistake]:
    """A pattern, timestamp or duration that is written out is tried at once."""
    literal = node.arguments[-1]
    if not isinstance(literal, Literal):
        return
    values: list[Any] = ["", literal.value] if node.function == "matches" else [literal.value]
    try:
        node.overloads[0].run(*values)
    except EvaluationError:
        yield Mistake(literal.position, f"invalid {node.function} argument")


def _bad_template(node: Call) -> Iterator[Mistake]:
    """A template that is written out is compared with the values that are."""
    template, values = node.target, node.arguments[0]
    if not isinstance(template, Literal) or not isinstance(values, ListOf):
        return
    try:
        clauses = [clause for clause in read_clauses(template.value) if clause.letter != "%"]
    except EvaluationError as wrong:
        yield Mistake(node.position, str(wrong))
        return
    if len(clauses) > len(values.items):
        yield Mistake(node.position, f"index {len(values.items)} out of range")
        return
    for clause, value in zip(clauses, values.items, strict=False):
        if problem := clause.problem(value.type.name):
            yield Mistake(value.position, problem)
