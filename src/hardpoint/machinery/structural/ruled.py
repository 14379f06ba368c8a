"""A schema as its rules divide it: the parts with rules in or below them, and nothing else.

It is made once for a schema and shared; each part's rules are compiled when the first value of it comes by. What they
say of an object is found out by `judged`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hardpoint.machinery import cel, patience
from hardpoint.machinery.lazily import lazily
from hardpoint.machinery.structural.declared import Declared, declare
from hardpoint.machinery.structural.keywords import EMBEDDED, RULES
from hardpoint.machinery.structural.rules import Rule, compile_rules
from hardpoint.machinery.structural.spine import has_parts
from hardpoint.machinery.structural.viewed import View, viewer

Json = dict[str, Any]

_COMPILED_STEPS = 100
"""What compiling one character of a rule takes."""

_Parts = tuple[Mapping[str, "Ruled"], "Ruled | None", "Ruled | None"]


class Ruled:
    """A schema with rules in it or below it, which are compiled when the first value of it comes by."""

    def __init__(self, schema: Json, declared: Declared, parts: _Parts, *, is_resource: bool) -> None:
        self.schema = schema
        self.fields, self.values, self.items = parts
        self._declared = declared
        self._is_resource = is_resource

    @lazily
    def rules(self) -> tuple[Rule, ...]:
        """Its own rules."""
        patience.spend(sum(_COMPILED_STEPS * len(rule.get("rule", "")) for rule in self.schema.get(RULES) or ()))
        return compile_rules(self.schema, self._declared)

    @lazily
    def looks_back(self) -> bool:
        return any(rule.uses_old for rule in self.rules)

    @lazily
    def view(self) -> View:
        """Gives a value as its rules see it."""
        return viewer(self.schema, is_resource=self._is_resource) or _as_it_is


def ruled(schema: Json, *, is_resource: bool) -> Ruled | None:
    """The rules of a schema; None if it has none, or none that can see it."""
    return _below(schema, declare(schema, is_resource=is_resource), is_resource=is_resource)


def _below(schema: Any, declared: Declared | None, *, is_resource: bool = False) -> Ruled | None:
    if declared is None or not isinstance(schema, dict):
        return None
    fields = {name: made for name in schema.get("properties") or () if (made := _field(schema, declared, name))}
    values = _below(schema.get("additionalProperties"), declared.values)
    items = _below(schema.get("items"), declared.items)
    if not (schema.get(RULES) or fields or values or items):
        return None
    return Ruled(schema, declared, (fields, values, items), is_resource=is_resource or bool(schema.get(EMBEDDED)))


def _field(schema: Json, declared: Declared, name: str) -> Ruled | None:
    """What has no type is not there for rules; what no rule can name may still have rules of its own."""
    child = schema["properties"][name]
    if RULES not in child and not has_parts(child):
        return None
    escaped = cel.escape(name)
    if escaped is None:
        return ruled(child, is_resource=bool(child.get(EMBEDDED)))
    return _below(child, (declared.fields or {}).get(escaped))


def _as_it_is(value: Any) -> Any:
    return value
