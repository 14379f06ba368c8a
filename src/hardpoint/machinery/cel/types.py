"""The types of CEL: what variables are declared with, and what the checker says about each part of an expression.

Types are values: two that are written alike are equal. An object type has a name and declared fields, so that selecting
any other field is a mistake found before anything is evaluated; objects themselves are plain dicts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as declared
from enum import Enum


class Kind(Enum):
    """What the rules of the checker tell apart."""

    DYN = "dyn"
    ERROR = "error"
    NULL = "null"
    SCALAR = "scalar"
    MOMENT = "moment"
    """Timestamps and durations: scalars that null may stand for."""
    LIST = "list"
    MAP = "map"
    TYPE = "type"
    PARAMETER = "parameter"
    OPAQUE = "opaque"
    OBJECT = "object"


@dataclass(frozen=True, slots=True)
class Type:
    """A type; make one with the names below, or with `list_of`, `map_of`, `optional_of`, `object_of`."""

    kind: Kind
    name: str
    parameters: tuple[Type, ...] = ()
    fields: tuple[tuple[str, Type], ...] = declared(default=(), repr=False)
    keys: tuple[str, ...] | None = declared(default=None, repr=False)
    """Of a list whose order means nothing: the fields that tell items apart; none, if the items do so themselves."""
    shown: str = declared(default="", compare=False, repr=False)

    def __str__(self) -> str:
        """As error messages tell it."""
        if not self.parameters:
            return self.shown or self.name
        return f"{self.name}({', '.join(map(str, self.parameters))})"

    def field(self, name: str) -> Type | None:
        """The type of a field of an object; None if it declares no such field."""
        return next((type for known, type in self.fields if known == name), None)

    @property
    def is_dyn(self) -> bool:
        return self.kind is Kind.DYN

    @property
    def is_optional(self) -> bool:
        return self.name == "optional_type"

    @property
    def unwrapped(self) -> Type:
        """The type inside an optional; any other type is itself."""
        return self.parameters[0] if self.is_optional else self


DYN = Type(Kind.DYN, "dyn")
ERROR = Type(Kind.ERROR, "error", shown="!error!")
NULL = Type(Kind.NULL, "null_type", shown="null")
BOOL = Type(Kind.SCALAR, "bool")
INT = Type(Kind.SCALAR, "int")
UINT = Type(Kind.SCALAR, "uint")
DOUBLE = Type(Kind.SCALAR, "double")
STRING = Type(Kind.SCALAR, "string")
BYTES = Type(Kind.SCALAR, "bytes")
DURATION = Type(Kind.MOMENT, "google.protobuf.Duration", shown="duration")
TIMESTAMP = Type(Kind.MOMENT, "google.protobuf.Timestamp", shown="timestamp")


def list_of(item: Type) -> Type:
    return Type(Kind.LIST, "list", (item,))


def set_list_of(item: Type) -> Type:
    """A list that is a set, `x-kubernetes-list-type: set`: `==` takes no notice of its order, `+` adds what is new."""
    return Type(Kind.LIST, "list", (item,), keys=())


def map_list_of(item: Type, keys: Sequence[str]) -> Type:
    """A list that is a map, `x-kubernetes-list-type: map`: `==` takes no notice of its order, and `+` puts an item in
    the place of one with the same keys, which are the names of fields as expressions write them.
    """
    return Type(Kind.LIST, "list", (item,), keys=tuple(keys))


def map_of(key: Type, value: Type) -> Type:
    return Type(Kind.MAP, "map", (key, value))


def optional_of(value: Type) -> Type:
    return Type(Kind.OPAQUE, "optional_type", (value,))


def type_of(of: Type) -> Type:
    """The type of a type, as `type(x)` has it."""
    return Type(Kind.TYPE, "type", (of,))


def opaque(name: str) -> Type:
    """A type that only functions look into, like a quantity."""
    return Type(Kind.OPAQUE, name)


def object_of(name: str, fields: Mapping[str, Type]) -> Type:
    """An object with these fields and no others."""
    return Type(Kind.OBJECT, name, fields=tuple(sorted(fields.items(), key=lambda entry: entry[0])))


def parameter(name: str) -> Type:
    """A type to be found out when a function is called."""
    return Type(Kind.PARAMETER, name)


NAMED = {type.name: type for type in (BOOL, INT, UINT, DOUBLE, STRING, BYTES, NULL, DYN, DURATION, TIMESTAMP)}
"""What an expression may name as a type: `type(x) == int`."""
