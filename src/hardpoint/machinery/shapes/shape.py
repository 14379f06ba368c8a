"""Shapes and their fields: the facts about Go types, as rows of `data/shapes.json`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from hardpoint.machinery.shapes import compiled, explained
from hardpoint.machinery.shapes.refusals import TypeMismatch
from hardpoint.machinery.shapes.values import Misfit

_TABLE = Path(__file__).parent.parent / "data/shapes.json"
_GO_SCALARS = {"bytes": "[]uint8", "double": "float64"}
_GO_PREFIXES = {"optional": "", "repeated": "[]", "map": "map[string]"}
_TOO_DEEP = "exceeded max depth"
_NO_FACTS: Mapping[str, Any] = {}


class Decoded(NamedTuple):
    """A body as its Go type holds it."""

    object: dict[str, Any]
    """May share parts with the body it was decoded from."""
    unknown: list[str]
    """Paths of the fields that the type does not have, in the order of the body."""


class Field(NamedTuple):
    """One field of a Go struct."""

    number: int
    """Its protobuf number; 0 for `kind` and `apiVersion`, which are never on the wire."""
    name: str
    type: str
    """A protobuf scalar or the name of a shape: of the value, of a list's items or of a map's values."""
    label: str
    """`optional`, `repeated` or `map`."""
    go: str
    """`ptr`, `ptr,null`, `val`, `val,omitempty`, `val,omitzero` or `inline`."""
    facts: Mapping[str, Any]
    """What OpenAPI tells beyond the type, under OpenAPI's names; `go` is the Go type where it has a name of its own."""
    required: bool = False
    embedded: tuple[str, ...] = ()
    """The embedded Go structs that lead to it."""

    @property
    def element(self) -> Shape | None:
        """The shape of the value, of a list's items or of a map's values; None for scalars."""
        return named(self.type) if "." in self.type else None

    @property
    def is_list(self) -> bool:
        return self.label == "repeated"

    @property
    def is_map(self) -> bool:
        return self.label == "map"

    @property
    def default(self) -> Any:
        return self.facts.get("default")

    @property
    def enum(self) -> tuple[Any, ...]:
        return tuple(self.facts.get("enum", ()))

    @property
    def format(self) -> str:
        """The OpenAPI format where it does not follow from the type."""
        return str(self.facts.get("format", ""))

    @property
    def list_type(self) -> str:
        """`atomic`, `set`, `map` or ""."""
        return str(self.facts.get("x-kubernetes-list-type", ""))

    @property
    def list_map_keys(self) -> tuple[str, ...]:
        return tuple(self.facts.get("x-kubernetes-list-map-keys", ()))

    @property
    def map_type(self) -> str:
        """`atomic`, `granular` or ""; a single struct has its type's."""
        own = self.facts.get("x-kubernetes-map-type")
        if own is None and self.label == "optional" and (element := self.element):
            own = element.map_type
        return str(own or "")

    @property
    def patch_strategy(self) -> str:
        """`merge`, `retainKeys`, `merge,retainKeys`, `replace` or ""."""
        return str(self.facts.get("x-kubernetes-patch-strategy", ""))

    @property
    def merge_key(self) -> str:
        return str(self.facts.get("x-kubernetes-patch-merge-key", ""))

    @property
    def go_type(self) -> str:
        """The field's type as Go prints it, without the pointer."""
        return str(self.facts.get("go") or _GO_PREFIXES[self.label] + self._plain_go_type)

    @property
    def go_element_type(self) -> str:
        """The type of a list's items or of a map's values as Go prints it."""
        spelled = str(self.facts.get("go", ""))
        if spelled.startswith(("[]", "map[")):
            return spelled.partition("]")[2]
        return self._plain_go_type

    @property
    def _plain_go_type(self) -> str:
        return go_name(self.type) if "." in self.type else _GO_SCALARS.get(self.type, self.type)


class Shape:
    """One Go struct type."""

    def __init__(self, name: str, entry: dict[str, Any]) -> None:
        self.name = name
        """`api.core.v1.Pod`: its OpenAPI name without `io.k8s.`."""
        self.about: Mapping[str, Any] = entry.get("about", {})
        """What OpenAPI tells about the type itself, under OpenAPI's names."""
        required = frozenset(entry.get("required", ()))
        self.rows = tuple(
            Field(number, name, kind, label, go, facts[0] if facts else _NO_FACTS, name in required)
            for number, name, kind, label, go, *facts in entry["fields"]
        )
        """Its fields as they are on the wire: embedded structs are fields of their own."""

    @cached_property
    def fields(self) -> Mapping[str, Field]:
        """Its fields by JSON name; those of embedded structs are among them."""
        return {field.name: field for row in self.rows for field in _flattened(row)}

    def field(self, name: str) -> Field | None:
        return self.fields.get(name)

    @property
    def map_type(self) -> str:
        """`atomic` where apply treats the struct as one value, else ""."""
        return str(self.about.get("x-kubernetes-map-type", ""))

    @property
    def go_name(self) -> str:
        """`v1.Pod`."""
        return go_name(self.name)

    @cached_property
    def decoder(self) -> compiled.Decoder:
        return compiled.struct(self)

    def decode(self, value: Any) -> Decoded:
        """What is left of a JSON value after Go decoded it into this type and encoded it again.

        Raises TypeMismatch. The value is not changed.
        """
        try:
            return self._decoded(value)
        except RecursionError:
            raise TypeMismatch(_TOO_DEEP) from None

    def _decoded(self, value: Any) -> Decoded:
        strange: list[str] = []
        try:
            decoded = self.decoder(value, strange)
        except Misfit:
            raise TypeMismatch(explained.refusal(self, value)) from None
        return Decoded(decoded, explained.unknown_fields(self, value) if strange else strange)

    def strict_errors(self, value: Any, duplicates: Iterable[str] = ()) -> list[str]:
        """What strict decoding of a value that can be decoded complains about, in the order of the body.

        `duplicates` are the paths `jsontext.parse` found; those in parts that Go does not look into are left out.
        """
        return explained.strict_errors(self, value, duplicates)

    def __repr__(self) -> str:
        return f"Shape({self.name!r})"


def shape(api_version: str, kind: str) -> Shape:
    """The shape of a built-in kind. Raises KeyError for others; ask `find` where that may happen."""
    return named(_table()["kinds"][f"{api_version}/{kind}"])


def find(api_version: str, kind: str) -> Shape | None:
    """The shape of a built-in kind, or None."""
    name = _table()["kinds"].get(f"{api_version}/{kind}")
    return named(name) if name else None


@cache
def named(name: str) -> Shape:
    """The shape with a name such as `api.core.v1.PodSpec`. Raises KeyError."""
    return Shape(name, _table()["messages"][name])


def names() -> tuple[str, ...]:
    """The names of all shapes."""
    return tuple(_table()["messages"])


def go_name(name: str) -> str:
    """`v1.Pod` for `api.core.v1.Pod`."""
    return ".".join(name.rsplit(".", 2)[-2:])


def _flattened(row: Field) -> tuple[Field, ...]:
    if row.go != "inline":
        return (row,)
    embedded = named(row.type)
    own_name = row.type.rpartition(".")[2]
    return tuple(field._replace(embedded=(own_name, *field.embedded)) for field in embedded.fields.values())


@cache
def _table() -> dict[str, Any]:
    table: dict[str, Any] = orjson.loads(_TABLE.read_bytes())
    return table
