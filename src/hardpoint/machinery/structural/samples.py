"""Values made to fit a schema: the same for the same seed, small or full, ordinary or odd.

    Sampler(schema, seed=1).object("stable.example.com/v1", "CronTab", "a")

What JSON Schema says is followed; what logic (`not`, `oneOf`) and rules in CEL ask beyond it is not, so whoever needs
certainty asks the schema's own check, or the server, about what comes out. Texts for patterns are in `sampletexts`.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from hardpoint.machinery.structural import sampletexts
from hardpoint.machinery.structural.keywords import EMBEDDED, INT_OR_STRING, LIST_MAP_KEYS, LIST_TYPE, RESOURCE_FIELDS

Json = dict[str, Any]

DEPTH_MAX = 12
LISTED_MAX = 3
_INT_LIMITS = {"int32": 2**31 - 1}
_EXACT = 2**53 - 1
_EMBEDDED_OBJECT: Json = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "sample"}}


class Sampler:
    """Makes values of one schema."""

    def __init__(self, schema: Json, *, seed: int | str = 0, fullness: float = 0.5, odd: bool = False) -> None:
        """`fullness` is the share of optional fields that are there. `odd` prefers the edges of what is allowed."""
        self._schema = schema
        self._roll = random.Random(f"sample {seed}")  # noqa: S311 # dice, not secrets
        self._fullness = fullness
        self._odd = odd

    def object(self, api_version: str, kind: str, name: str, *, namespace: str = "", status: bool = False) -> Json:
        """A whole object, with a status only if asked for."""
        properties: Json = self._schema.get("properties") or {}
        skipped = {*RESOURCE_FIELDS, *(() if status else ("status",))}
        part = {**self._schema, "properties": {key: value for key, value in properties.items() if key not in skipped}}
        part["required"] = [field for field in self._schema.get("required") or () if field not in skipped]
        if "spec" in properties:
            part["required"].append("spec")
        metadata = {"name": name} | ({"namespace": namespace} if namespace else {})
        return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **self._object(part, 0)}

    def value(self) -> Any:
        """A value of the whole schema."""
        return self._value(self._schema, 0)

    def _value(self, schema: Json, depth: int) -> Any:
        if schema.get("enum"):
            return deepcopy(self._roll.choice(schema["enum"]))
        if not self._odd and "default" in schema and self._roll.random() < 0.5:
            return deepcopy(schema["default"])
        kind = "integer" if schema.get(INT_OR_STRING) and self._roll.random() < 0.5 else schema.get("type", "")
        if schema.get(INT_OR_STRING) and not kind:
            kind = "string"
        if self._odd and schema.get("nullable") and self._roll.random() < 0.3:
            return None
        return self._of_type(kind, schema, depth)

    def _of_type(self, kind: str, schema: Json, depth: int) -> Any:
        if schema.get(EMBEDDED):
            return deepcopy(_EMBEDDED_OBJECT) | self._object(_without(schema, RESOURCE_FIELDS), depth)
        if kind == "object" or (not kind and schema.get("properties")):
            return self._object(schema, depth)
        if kind == "array":
            return list(self._items(schema, depth))
        if kind == "boolean":
            return self._roll.random() < 0.5
        if kind in ("integer", "number"):
            return self._number(kind, schema)
        return sampletexts.text(schema, self._roll, odd=self._odd)

    def _object(self, schema: Json, depth: int) -> Json:
        required = set(schema.get("required") or ())
        properties: Json = schema.get("properties") or {}
        made = {
            name: self._value(child, depth + 1)
            for name, child in properties.items()
            if name in required or (depth < DEPTH_MAX and self._roll.random() < self._fullness)
        }
        additional = schema.get("additionalProperties")
        if isinstance(additional, dict):
            made |= self._entries(additional, schema, depth)
        return _at_most(made, schema.get("maxProperties"), required)

    def _entries(self, child: Json, schema: Json, depth: int) -> Json:
        least = schema.get("minProperties", 0)
        count = max(least, 0 if self._odd or depth >= DEPTH_MAX else self._roll.randint(0, 2))
        return {f"key-{index}": self._value(child, depth + 1) for index in range(count)}

    def _items(self, schema: Json, depth: int) -> Iterator[Any]:
        least = schema.get("minItems", 0)
        wanted = least if self._odd or depth >= DEPTH_MAX else max(least, self._roll.randint(0, LISTED_MAX))
        items = schema.get("items") or {}
        unique = schema.get(LIST_TYPE) in ("set", "map") or schema.get("uniqueItems")
        seen: set[str] = set()
        for _ in range(min(wanted, schema.get("maxItems", wanted))):
            item = self._distinct(items, schema, depth, seen) if unique else self._value(items, depth + 1)
            if item is not _NOTHING:
                yield item

    def _distinct(self, items: Json, schema: Json, depth: int, seen: set[str]) -> Any:
        """An item that no other is like, or nothing, where a few tries find none."""
        for _ in range(5):
            item = self._value(items, depth + 1)
            keys = schema.get(LIST_MAP_KEYS) or ()
            key = repr([item.get(each) for each in keys] if keys and isinstance(item, dict) else item)
            if key not in seen:
                seen.add(key)
                return item
        return _NOTHING

    def _number(self, kind: str, schema: Json) -> float | int:
        limit = _INT_LIMITS.get(schema.get("format", ""), _EXACT)
        step = schema.get("multipleOf") or 1
        least = schema.get("minimum", -limit if self._odd else 0)
        most = schema.get("maximum", limit if self._odd else max(least + 10 * step, 10))
        if schema.get("exclusiveMinimum"):
            least += step
        if schema.get("exclusiveMaximum"):
            most -= step
        if self._odd:
            near_zero = [0] if least <= 0 <= most else []
            chosen = self._roll.choice([least, most, *near_zero])
        else:
            chosen = self._roll.uniform(least, most) if kind == "number" else self._roll.randint(int(least), int(most))
        multiple = round(chosen / step) * step if schema.get("multipleOf") else chosen
        return int(multiple) if kind == "integer" else round(multiple, 3)


_NOTHING = object()


def _without(schema: Json, names: tuple[str, ...]) -> Json:
    properties = {name: child for name, child in (schema.get("properties") or {}).items() if name not in names}
    required = [name for name in schema.get("required") or () if name not in names]
    return {**schema, "properties": properties, "required": required}


def _at_most(made: Json, most: int | None, required: set[str]) -> Json:
    """No more entries than the schema allows; what is required goes last."""
    while most is not None and len(made) > most:
        spare = next((name for name in made if name not in required), "")
        if not spare:
            break
        del made[spare]
    return made
