"""Classes on their way to source: what is known of a model, of a field, and of a type that is being worked out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hardpoint.seams.crd.guest.layout import Expr
from hardpoint.seams.crd.guest.schema import PRESERVE

Json = dict[str, Any]

LIST_TYPE, MAP_KEYS, MAP_TYPE = "x-kubernetes-list-type", "x-kubernetes-list-map-keys", "x-kubernetes-map-type"
EMBEDDED = "x-kubernetes-embedded-resource"


@dataclass
class Model:
    """A class to be written."""

    name: str
    doc: str
    fields: list[Field]
    rules: list[Expr]
    extra: Json
    names: dict[str, str] = field(default_factory=dict)
    """Python's names of the fields, by JSON's."""
    models: dict[str, Model | None] = field(default_factory=dict)
    """The models of the fields, or of what is in them, by JSON's names."""

    def content(self) -> tuple[Any, ...]:
        """What makes two models the same but for the name."""
        return (
            self.doc,
            [each.content() for each in self.fields],
            [rule.flat() for rule in self.rules],
            repr(self.extra),
        )


@dataclass
class Field:
    """A line of a class."""

    name: str
    type: Expr
    default: Expr | None

    def content(self) -> tuple[str, str, str]:
        return self.name, self.type.flat(), self.default.flat() if self.default else ""


@dataclass
class Typed:
    """A type on its way: what is `left` of the schema has not been said yet."""

    type: Expr
    left: Json
    notes: list[Expr]
    bounds: dict[str, Any] = field(default_factory=dict)
    model: Model | None = None
    """The model it is, or that its items or values are."""

    def bound(self, names: Mapping[str, str]) -> None:
        for keyword, name in names.items():
            if keyword in self.left:
                self.bounds[name] = self.left.pop(keyword)


def is_model(schema: Json) -> bool:
    """Objects with fields are models; so are those that have none and take none."""
    if schema.get("type") != "object":
        return False
    return "properties" in schema or not ("additionalProperties" in schema or schema.get(PRESERVE))
