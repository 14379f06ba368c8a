"""Which types stand for which: assignability, and what the type parameters of a call turn out to be.

The rules are cel-go's. A failed trial leaves nothing behind.
"""

from __future__ import annotations

from hardpoint.machinery.cel.types import DYN, Kind, Type, parameter

_CONTAINERS = (Kind.LIST, Kind.MAP, Kind.OPAQUE)
_NULLABLE = (Kind.OPAQUE, Kind.OBJECT, Kind.MOMENT)
_WILD = (Kind.DYN, Kind.ERROR)


class Unifier:
    """What the type parameters of one expression are known to be."""

    def __init__(self) -> None:
        self._bound: dict[str, Type] = {}
        self._made = 0

    def fresh(self) -> Type:
        """A type parameter that is nobody else's."""
        self._made += 1
        return parameter(f"_var{self._made - 1}")

    def instance(self, *types: Type) -> list[Type]:
        """The same types, their own parameters replaced by fresh ones."""
        fresh: dict[str, Type] = {}
        return [self._renamed(type, fresh) for type in types]

    def _renamed(self, type: Type, fresh: dict[str, Type]) -> Type:
        if type.kind is Kind.PARAMETER:
            return fresh.get(type.name) or fresh.setdefault(type.name, self.fresh())
        if not type.parameters:
            return type
        return _with(type, tuple(self._renamed(inner, fresh) for inner in type.parameters))

    def assign(self, target: Type, source: Type) -> bool:
        """May a value of one type stand where the other is wanted? If so, what follows for parameters is kept."""
        return self.assign_all([target], [source])

    def assign_all(self, targets: list[Type], sources: list[Type]) -> bool:
        before = dict(self._bound)
        if len(targets) == len(sources) and all(map(self._assignable, targets, sources)):
            return True
        self._bound = before
        return False

    def resolve(self, type: Type, *, free_to_dyn: bool = False) -> Type:
        """The type with all known parameters put in; unknown ones stay, or become dyn."""
        if type.kind is Kind.PARAMETER:
            if (bound := self._bound.get(type.name)) is not None:
                return self.resolve(bound, free_to_dyn=free_to_dyn)
            return DYN if free_to_dyn else type
        if not type.parameters:
            return type
        return _with(type, tuple(self.resolve(inner, free_to_dyn=free_to_dyn) for inner in type.parameters))

    def _assignable(self, first: Type, second: Type) -> bool:
        if second.kind is Kind.PARAMETER:
            is_valid, is_bound = self._substitutes(first, second)
            if is_valid or is_bound:
                return is_valid
        if first.kind is Kind.PARAMETER:
            return self._substitutes(second, first)[0]
        if first.kind in _WILD or second.kind in _WILD:
            return True
        if first.kind is Kind.NULL or second.kind is Kind.NULL:
            other = second if first.kind is Kind.NULL else first
            return other.kind in _NULLABLE or other.kind is Kind.NULL
        if first.kind is Kind.TYPE:
            return second.kind is Kind.TYPE
        if first.kind in _CONTAINERS:
            same = first.kind is second.kind and first.name == second.name
            return same and all(map(self._assignable, first.parameters, second.parameters))
        return first == second

    def _substitutes(self, type: Type, param: Type) -> tuple[bool, bool]:
        """Can the parameter be this type, and was it bound already?"""
        if type == param:
            return True, True
        if (bound := self._bound.get(param.name)) is not None:
            if type == bound:
                return True, True
            if not self._assignable(type, bound):
                return False, True
            general = most_general(type, bound)
            if self._is_free_of(param, general):
                self._bound[param.name] = general
            return True, True
        if self._is_free_of(param, type):
            self._bound[param.name] = type
            return True, False
        return False, False

    def _is_free_of(self, param: Type, within: Type) -> bool:
        if within == param:
            return False
        if within.kind is Kind.PARAMETER:
            bound = self._bound.get(within.name)
            return bound is None or self._is_free_of(param, bound)
        return all(self._is_free_of(param, inner) for inner in within.parameters)


def most_general(first: Type, second: Type) -> Type:
    """Of two types that go together, the one that says less."""
    return first if _is_as_general(first, second) else second


def _is_as_general(first: Type, second: Type) -> bool:
    if first.kind in (Kind.DYN, Kind.PARAMETER):
        return True
    if second.kind in (Kind.DYN, Kind.PARAMETER) or first.kind is not second.kind:
        return False
    if first.kind is Kind.TYPE:
        return True
    if first.kind in _CONTAINERS:
        same = first.name == second.name and len(first.parameters) == len(second.parameters)
        return same and all(map(_is_as_general, first.parameters, second.parameters))
    return first == second


def _with(type: Type, parameters: tuple[Type, ...]) -> Type:
    return Type(type.kind, type.name, parameters, type.fields, type.keys, type.shown)
