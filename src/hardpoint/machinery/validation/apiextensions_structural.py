"""Whether a CRD's schema is structural: typed everywhere, and saying nothing below logic that it does not say above.

Upstream sorts these complaints by their text, because it walks maps in no particular order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from hardpoint.machinery.fielderrors import FieldError, at, forbidden, invalid, required
from hardpoint.machinery.structural import patterns

Json = dict[str, Any]
Level = Literal["root", "item", "field"]

PRESERVE = "x-kubernetes-preserve-unknown-fields"
EMBEDDED = "x-kubernetes-embedded-resource"
INT_OR_STRING = "x-kubernetes-int-or-string"
INT_OR_STRING_ANY_OF = [{"type": "integer"}, {"type": "string"}]

UNTYPED: Mapping[Level, str] = {
    "root": "must not be empty at the root",
    "item": "must not be empty for specified array items",
    "field": "must not be empty for specified object fields",
}
# Keywords that may not stand below allOf, anyOf, oneOf and not, and what they must be instead.
NOT_BELOW_LOGIC = {
    "type": "empty",
    "additionalProperties": "undefined",
    "default": "undefined",
    "title": "empty",
    "description": "empty",
    "nullable": "false",
    PRESERVE: "false",
    EMBEDDED: "false",
    INT_OR_STRING: "false",
    "x-kubernetes-list-map-keys": "empty",
    "x-kubernetes-list-type": "undefined",
    "x-kubernetes-map-type": "undefined",
    "x-kubernetes-validations": "empty",
}
SCALARS = frozenset(("boolean", "integer", "number", "string"))
# Keywords of which nothing is asked but that they are there.
# fmt: off
PLAIN = frozenset((
    "type", "description", "title", "format", "nullable", "enum", "example", "externalDocs", "maxLength", "minLength",
    "maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum", "multipleOf",
))
# fmt: on
# Keywords without a place in a structural schema; the schema rules tell about each.
UNSUPPORTED = ("id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref")


def is_plain(schema: Json) -> bool:
    """Whether it is a scalar's schema with nothing in it that could be wrong. Nearly all schemas are, in large ones."""
    return schema.get("type") in SCALARS and schema.keys() <= PLAIN


def is_convertible(schema: Json) -> bool:
    """Whether the schema has a structural form at all."""
    if is_plain(schema):
        return True
    if any(schema.get(keyword) for keyword in UNSUPPORTED) or schema.get(PRESERVE) is False:
        return False
    return not isinstance(schema.get("items"), list) and all(is_convertible(child) for child in children(schema))


def children(schema: Json) -> Iterator[Json]:
    """Every schema that stands in this one."""
    yield from schema.get("properties", {}).values()
    for keyword in ("items", "additionalProperties", "not"):
        if isinstance(schema.get(keyword), dict):
            yield schema[keyword]
    for keyword in ("allOf", "anyOf", "oneOf"):
        yield from schema.get(keyword, ())


def problems(path: str, schema: Json) -> list[FieldError]:
    """Everything that keeps a schema from being structural."""
    found = _invariants(path, schema, "root")
    found += _incomplete(schema, schema, path, path)
    return sorted(found, key=str)


def _invariants(path: str, schema: Json, level: Level) -> list[FieldError]:
    if is_plain(schema) and level != "root":
        return []
    found: list[FieldError] = []
    items = schema.get("items")
    if schema.get("type") == "array" and items is None:
        found.append(required(f"{path}.items", "must be specified"))
    if items is not None:
        found += _invariants(f"{path}.items", items, "item")
    for name, child in schema.get("properties", {}).items():
        found += _invariants(at(f"{path}.properties", key=name), child, "field")
    additional = schema.get("additionalProperties")
    if additional is not None and level == "root":
        found.append(forbidden(f"{path}.additionalProperties", "must not be used at the root"))
    if isinstance(additional, dict):
        found += _invariants(f"{path}.additionalProperties", additional, "field")
    found += _extensions(path, schema)
    found += _below_logic(path, schema, skips_any_of=_is_int_or_string(schema))
    found += _typing(path, schema, level)
    return found + _resource_fields(path, schema, level)


def _is_int_or_string(schema: Json) -> bool:
    return bool(schema.get("anyOf") == INT_OR_STRING_ANY_OF)


def _extensions(path: str, schema: Json) -> list[FieldError]:
    if not schema.get(INT_OR_STRING):
        return []
    return [
        invalid(f"{path}.{keyword}", True, f"must be false if {INT_OR_STRING} is true")
        for keyword in (PRESERVE, EMBEDDED)
        if schema.get(keyword)
    ]


def _typing(path: str, schema: Json, level: Level) -> list[FieldError]:
    kind = schema.get("type", "")
    found = []
    if schema.get(EMBEDDED) and kind != "object":
        detail = f"must be object if {EMBEDDED} is true"
        found.append(invalid(f"{path}.type", kind, detail) if kind else required(f"{path}.type", detail))
    elif not kind and not schema.get(INT_OR_STRING) and not schema.get(PRESERVE):
        found.append(required(f"{path}.type", UNTYPED[level]))
    if schema.get(EMBEDDED) and "additionalProperties" in schema:
        found.append(forbidden(f"{path}.additionalProperties", f"must not be used if {EMBEDDED} is set"))
    if level == "root" and kind and kind != "object":
        found.append(invalid(f"{path}.type", kind, "must be object at the root"))
    return found


def _resource_fields(path: str, schema: Json, level: Level) -> list[FieldError]:
    """apiVersion, kind and metadata of the object itself, or of one embedded in it."""
    properties = schema.get("properties", {})
    is_resource = level == "root" or bool(schema.get(EMBEDDED))
    found = []
    for name in ("kind", "apiVersion"):
        if is_resource and name in properties and properties[name].get("type") != "string":
            place = f"{at(f'{path}.properties', key=name)}.type"
            found.append(invalid(place, properties[name].get("type", ""), "must be string"))
    metadata = properties.get("metadata")
    if metadata is not None:
        place = at(f"{path}.properties", key="metadata")
        if is_resource and metadata.get("type") != "object":
            found.append(invalid(f"{place}.type", metadata.get("type", ""), "must be object"))
        if level == "root" and _says_more_than_names(metadata):
            detail = "must not specify anything other than name and generateName, but metadata is implicitly specified"
            found.append(forbidden(place, detail))
    if schema.get(EMBEDDED) and not schema.get(PRESERVE) and not properties:
        detail = f"must not be empty if {EMBEDDED} is true without {PRESERVE}"
        found.append(required(f"{path}.properties", detail))
    return found


def _says_more_than_names(metadata: Json) -> bool:
    left = metadata.keys() - {"type", "default"}
    if set(metadata.get("properties", {})) <= {"name", "generateName"}:
        left -= {"properties"}
    return bool(left)


def _below_logic(path: str, schema: Json, *, skips_any_of: bool) -> list[FieldError]:
    """The allOf, anyOf, oneOf, not and pattern of a schema, or of a branch below one of these."""
    found: list[FieldError] = []
    if not skips_any_of:
        for index, branch in enumerate(schema.get("anyOf", ())):
            found += _branch(at(f"{path}.anyOf", index), branch)
    for index, branch in enumerate(schema.get("allOf", ())):
        skips = index == 0 and _is_int_or_string(branch)
        found += _branch(at(f"{path}.allOf", index), branch, skips_any_of=skips)
    for index, branch in enumerate(schema.get("oneOf", ())):
        found += _branch(at(f"{path}.oneOf", index), branch)
    if "not" in schema:
        found += _branch(f"{path}.not", schema["not"])
    pattern = schema.get("pattern", "")
    if pattern and (problem := patterns.problem(pattern)):
        detail = f"must be a valid regular expression, but isn't: error parsing regexp: {problem}"
        found.append(invalid(f"{path}.pattern", pattern, detail))
    return found


def _branch(path: str, branch: Json, *, skips_any_of: bool = False) -> list[FieldError]:
    found = _below_logic(path, branch, skips_any_of=skips_any_of)
    if branch.get("items") is not None:
        found += _branch(f"{path}.items", branch["items"])
    properties = branch.get("properties", {})
    for name, child in properties.items():
        found += _branch(at(f"{path}.properties", key=name), child)
    for keyword, must_be in NOT_BELOW_LOGIC.items():
        is_set = keyword in branch if must_be == "undefined" else branch.get(keyword)
        if is_set:
            found.append(forbidden(f"{path}.{keyword}", f"must be {must_be} to be structural"))
    if "metadata" in properties:
        found.append(forbidden(at(f"{path}.properties", key="metadata"), "must not be specified in a nested context"))
    return found


def _incomplete(branch: Json, schema: Json | None, schema_path: str, branch_path: str) -> list[FieldError]:
    """Fields that logic talks about but the schema itself does not have."""
    if schema is None:
        return [required(schema_path, f"because it is defined in {branch_path}")]
    found: list[FieldError] = []
    for keyword in ("not", "allOf", "anyOf", "oneOf"):
        value = branch.get(keyword, ())
        if isinstance(value, dict):
            found += _incomplete_nested(value, schema, schema_path, f"{branch_path}.{keyword}")
            continue
        for index, child in enumerate(value):
            found += _incomplete_nested(child, schema, schema_path, at(f"{branch_path}.{keyword}", index))
    return found


def _incomplete_nested(branch: Json, schema: Json | None, schema_path: str, branch_path: str) -> list[FieldError]:
    found = _incomplete(branch, schema, schema_path, branch_path)
    if schema is None:
        return found
    if branch.get("items") is not None:
        found += _incomplete_nested(
            branch["items"], schema.get("items"), f"{schema_path}.items", f"{branch_path}.items"
        )
    for name, child in branch.get("properties", {}).items():
        there = at(f"{schema_path}.properties", key=name)
        here = at(f"{branch_path}.properties", key=name)
        if name in schema.get("properties", {}):
            found += _incomplete_nested(child, schema["properties"][name], there, here)
        else:
            found.append(required(there, f"because it is defined in {here}"))
    return found


def walk(schema: Json) -> Iterator[Json]:
    """The schema and every schema below it."""
    waiting = [schema]
    while waiting:
        yield (now := waiting.pop())
        if not is_plain(now):
            waiting += reversed([*children(now)])
