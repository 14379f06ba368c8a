"""Whether the defaults in a CRD's schema fit the schema they stand in.

A default must keep to its own schema and to the rules in it, and must not hold fields that would be pruned from it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from hardpoint.machinery.fielderrors import FieldError, at, invalid
from hardpoint.machinery.structural import embedded, explained
from hardpoint.machinery.structural.keywords import EMBEDDED, INT_OR_STRING, PRESERVE, RESOURCE_FIELDS
from hardpoint.machinery.structural.spine import has_rules, spine

Json = dict[str, Any]

BUDGET = 10_000_000
"""What all rules together may cost for all defaults of a schema."""


def problems(path: str, schema: Json) -> list[FieldError]:
    """What is wrong with the defaults in a resource's schema and below it."""
    trial = _Trial()
    trial.visit(path, {**schema, EMBEDDED: True}, None)
    return trial.found


class _Metadata(NamedTuple):
    """The place of a schema in the metadata, or the name of the kind, of a resource."""

    resource: Json
    """The schema of the resource."""
    steps: tuple[str | None, ...]
    """From there to here; None is a step to the items of a list."""

    def below(self, step: str | None) -> _Metadata:
        return _Metadata(self.resource, (*self.steps, step))

    def refusal(self, default: Any) -> str:
        """Why a resource with this default here would be refused; "" if it would not."""
        for step in reversed(self.steps):
            default = [default] if step is None else {step: default}
        resource = {"apiVersion": "validation/v1", "kind": "Validation", **default}
        told = embedded.refusal(self.resource, resource)
        wrong = [told] if told else list(map(str, embedded.problems(self.resource, resource)))
        return f"[{', '.join(wrong)}]" if len(wrong) > 1 else "".join(wrong)


@dataclass
class _Trial:
    """The defaults of one schema, tried one after the other until there are none or the budget is gone."""

    found: list[FieldError] = field(default_factory=list)
    left: int = BUDGET

    def visit(self, path: str, schema: Json, metadata: _Metadata | None) -> None:
        """Maps' values have no defaults."""
        resource = schema if schema.get(EMBEDDED) else None
        if resource is not None:
            metadata = None
        if schema.get("default") is not None:
            self._try(f"{path}.default", schema["default"], schema, metadata)
        if isinstance(schema.get("items"), dict) and self.left >= 0:
            self.visit(f"{path}.items", schema["items"], metadata and metadata.below(None))
        for name, child in (schema.get("properties") or {}).items():
            if self.left < 0:
                return
            below = metadata and metadata.below(name)
            if resource is not None and name in RESOURCE_FIELDS:
                below = _Metadata(resource, (name,))
            self.visit(at(f"{path}.properties", key=name), child, below)

    def _try(self, path: str, default: Any, schema: Json, metadata: _Metadata | None) -> None:
        if metadata is not None and (told := metadata.refusal(default)):
            self.found.append(invalid(path, default, f"must result in valid metadata: {told}"))
            return
        if metadata is None and has_unknown_fields(default, schema):
            self.found.append(invalid(path, default, "must not have unknown fields"))
        wrong = [] if metadata is not None else list(embedded.problems(schema, default, path))
        wrong = wrong or explained.problems(path, default, _without_unions(schema))
        self.found += wrong
        if not wrong and has_rules(schema):
            self._judge(path, default, schema)

    def _judge(self, path: str, default: Any, schema: Json) -> None:
        """A default must pass as a value that stays what it is, and as one that is new."""
        # Few schemas have rules, and CEL is large.
        from hardpoint.machinery.structural.judged import judged
        from hardpoint.machinery.structural.ruled import ruled

        rules = ruled(schema, is_resource=bool(schema.get(EMBEDDED)))
        if rules is None:
            return
        found, left = judged(rules, default, default, path=path, budget=self.left)
        if not found:
            found, new_left = judged(rules, default, None, path=path, budget=self.left)
            left = min(left, new_left)
        self.found += found
        self.left = left


def _without_unions(schema: Json) -> Json:
    """The schema as defaults are held to it: whether they are an integer or a string is not asked."""
    if not any(each.get(INT_OR_STRING) for each in spine(schema)):
        return schema
    changed = {word: value for word, value in schema.items() if word != INT_OR_STRING}
    if schema.get("properties"):
        changed["properties"] = {name: _without_unions(child) for name, child in schema["properties"].items()}
    for word in ("items", "additionalProperties"):
        if isinstance(schema.get(word), dict):
            changed[word] = _without_unions(schema[word])
    return changed


def has_unknown_fields(value: Any, schema: Json) -> bool:
    """Whether pruning by `schema` would take something out of `value`."""
    if isinstance(value, list):
        items = schema.get("items")
        return isinstance(items, dict) and any(has_unknown_fields(each, items) for each in value)
    if not isinstance(value, dict):
        return False
    properties = schema.get("properties", {})
    additional = schema.get("additionalProperties")
    for name, child in value.items():
        if name in properties:
            below = properties[name]
        elif isinstance(additional, dict):
            below = additional
        elif additional is True or _keeps(schema, name):
            continue
        else:
            return True
        if has_unknown_fields(child, below):
            return True
    return False


def _keeps(schema: Json, name: str) -> bool:
    """Whether a field the schema does not name survives pruning."""
    if schema.get(PRESERVE):
        return True
    return name in RESOURCE_FIELDS and bool(schema.get(EMBEDDED))
