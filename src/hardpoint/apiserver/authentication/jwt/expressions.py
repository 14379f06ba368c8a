"""The CEL expressions of an AuthenticationConfiguration: over `claims`, or over the `user` that was made of them."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from hardpoint.machinery.errors import HardpointError

if TYPE_CHECKING:
    from hardpoint.machinery.cel import Program, Type

Json = dict[str, Any]


class BadExpression(HardpointError):
    """An expression that cannot be compiled, or gives another type than it must."""


def claim(expression: str) -> Program:
    """A program over `claims` that gives anything. Raises BadExpression."""
    return _compiled(expression, "claims", must_be_bool=False)


def claim_rule(expression: str) -> Program:
    """A program over `claims` that gives true or false. Raises BadExpression."""
    return _compiled(expression, "claims", must_be_bool=True)


def user_rule(expression: str) -> Program:
    """A program over `user` that gives true or false. Raises BadExpression."""
    return _compiled(expression, "user", must_be_bool=True)


def selects(expression: str, name: str) -> bool:
    """Whether an expression looks at this claim, as `claims.name` or `claims.?name`."""
    from hardpoint.machinery.cel import CompileError
    from hardpoint.machinery.cel.parser import parse

    if not expression:
        return False
    try:
        return _selects(parse(expression), name)
    except CompileError:
        return False


def _selects(part: Any, name: str) -> bool:
    from hardpoint.machinery.cel.syntax import Call, Ident, Literal, Select

    if isinstance(part, list | tuple):
        return any(_selects(each, name) for each in part)
    if not is_dataclass(part):
        return False
    match part:
        case Select(operand=Ident(name="claims"), field=field) if field == name:
            return True
        case Call(function="_?._", arguments=[Ident(name="claims"), Literal(value=field)]) if field == name:
            return True
    return any(_selects(getattr(part, each.name), name) for each in fields(part))


def _compiled(expression: str, variable: str, *, must_be_bool: bool) -> Program:
    from hardpoint.machinery import cel

    try:
        return cel.compile(expression, {variable: _types()[variable]}, result=cel.BOOL if must_be_bool else None)
    except cel.WrongResult as wrong:
        raise BadExpression(str(wrong)) from wrong
    except cel.CompileError as wrong:
        raise BadExpression(f"compilation failed: {wrong}") from wrong


@cache
def _types() -> dict[str, Type]:
    from hardpoint.machinery import cel

    texts = cel.list_of(cel.STRING)
    user = {"username": cel.STRING, "uid": cel.STRING, "groups": texts, "extra": cel.map_of(cel.STRING, texts)}
    return {"claims": cel.map_of(cel.STRING, cel.DYN), "user": cel.object_of("kubernetes.UserInfo", user)}
