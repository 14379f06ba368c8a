"""The OpenAPI v3 rules of a CRD's schema: which keywords may stand where, and how the extensions fit together.

Whether it is structural is `apiextensions_structural`'s business, its defaults are `apiextensions_defaults`', its rules
in CEL `apiextensions_rules`' and `apiextensions_costs`': those are compiled where nothing else is wrong with their
schema or below it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from hardpoint.machinery.fielderrors import FieldError, at, forbidden, invalid, not_supported, required
from hardpoint.machinery.structural.keywords import EMBEDDED, INT_OR_STRING, MAP_TYPES
from hardpoint.machinery.structural.spine import has_rules
from hardpoint.machinery.validation import apiextensions_defaults, apiextensions_rules, apiextensions_structural
from hardpoint.machinery.validation.apiextensions_view import SCHEMA, schema_as_go

if TYPE_CHECKING:
    from hardpoint.machinery.validation.apiextensions_costs import Scope

Json = dict[str, Any]

TYPES = ("array", "boolean", "integer", "number", "object", "string")
LIST_TYPES = ("atomic", "set", "map")
RESOURCE_FIELDS = frozenset({"metadata", "kind", "apiVersion"})
# What the root may say when status has its own endpoint, by Go's names and in upstream's order.
# fmt: off
AT_ROOT_WITH_STATUS = (
    "Description", "Type", "Format", "Title", "Maximum", "ExclusiveMaximum", "Minimum", "ExclusiveMinimum",
    "MaxLength", "MinLength", "Pattern", "MaxItems", "MinItems", "UniqueItems", "MultipleOf", "Required", "Items",
    "Properties", "ExternalDocs", "Example", "XPreserveUnknownFields", "XValidations",
)
# fmt: on
# Keywords whose `false` is as good as absent; of others Go can tell the difference.
FLAGS = frozenset(("nullable", "exclusiveMaximum", "exclusiveMinimum", "uniqueItems", EMBEDDED, INT_OR_STRING))
# Keywords that are never allowed.
NEVER = ("id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref")


@dataclass(frozen=True)
class _Place:
    """Where in the object a schema applies, as far as rules depend on it."""

    in_resource_meta: bool = False
    forbids_defaults: str | None = None
    scope: Scope | None = None
    """What its rules are compiled with; None where rules are not looked at."""


def root(path: str, schema: Json, *, has_status: bool, is_stored: bool) -> list[FieldError]:
    """Everything wrong with a version's whole schema. `is_stored` if it is the one that was stored before."""
    found = _root_with_status(path, schema) if has_status else []
    if schema.get("nullable"):
        found.append(forbidden(f"{path}.nullable", "nullable cannot be true at the root"))
    scope = None
    if apiextensions_structural.is_convertible(schema):
        problems = apiextensions_structural.problems(path, schema) or apiextensions_defaults.problems(path, schema)
        found += problems
        if not problems and has_rules(schema):
            from hardpoint.machinery.validation import apiextensions_costs

            scope = apiextensions_costs.Scope(schema, apiextensions_costs.Costs(is_exempt=is_stored))
    found += _schema(path, schema, _Place(scope=scope), is_root=True)
    return found if scope is None else found + scope.costs.errors + scope.costs.of_schema(path)


def _root_with_status(path: str, schema: Json) -> list[FieldError]:
    for go_name, name, *_ in SCHEMA:
        if name not in schema or schema[name] in (None, "") or (schema[name] is False and name in FLAGS):
            continue
        if name == "type" and schema["type"] != "object":
            detail = (
                'only "object" is allowed as the type at the root of the schema if the status subresource is enabled'
            )
            return [invalid(f"{path}.type", schema["type"], detail)]
        if go_name not in AT_ROOT_WITH_STATUS:
            allowed = f"[{' '.join(AT_ROOT_WITH_STATUS)}]"
            detail = f"only {allowed} fields are allowed at the root of the schema if the status subresource is enabled"
            return [FieldError("FieldValueInvalid", path, schema_as_go(schema), detail)]
    return []


def has(schema: Json | None, wanted: Callable[[Json], bool]) -> bool:
    """Whether the schema, or one below it, is as wanted."""
    return schema is not None and any(wanted(each) for each in apiextensions_structural.walk(schema))


def _schema(path: str, schema: Json, place: _Place, *, is_root: bool = False) -> list[FieldError]:
    found = _keywords(path, schema, place)
    if schema.get("uniqueItems"):
        detail = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
        found.append(forbidden(f"{path}.uniqueItems", detail))
    found += _additional_properties(path, schema, place)
    for name, child in schema.get("properties", {}).items():
        if apiextensions_structural.is_plain(child):
            continue
        below = place if place.scope is None else replace(place, scope=place.scope.field(name, path))
        if name in RESOURCE_FIELDS and (is_root or schema.get("x-kubernetes-embedded-resource")):
            reason = f"in top-level {name}" if is_root else place.forbids_defaults
            below = replace(below, in_resource_meta=True, forbids_defaults=reason)
        found += _schema(at(f"{path}.properties", key=name), child, below)
    found += _below_logic(path, schema, place)
    items = schema.get("items")
    if isinstance(items, dict):
        below = place if place.scope is None else replace(place, scope=place.scope.items(path))
        found += _schema(f"{path}.items", items, below)
    for index, child in enumerate(items if isinstance(items, list) else ()):
        found += _schema(at(f"{path}.items", index), child, place)
    found += _extensions(path, schema)
    found += apiextensions_rules.wording(path, schema)
    if place.scope is not None and not found:
        place.scope.check(path)
    return found


def _keywords(path: str, schema: Json, place: _Place) -> list[FieldError]:
    found = []
    kind = schema.get("type", "")
    if kind and kind not in TYPES:
        found.append(not_supported(f"{path}.type", kind, TYPES))
    if "default" in schema and place.forbids_defaults is not None:
        found.append(forbidden(f"{path}.default", f"must not be set {place.forbids_defaults}"))
    for keyword in NEVER:
        if schema.get(keyword) or (keyword in ("additionalItems", "$ref") and keyword in schema):
            found.append(forbidden(f"{path}.{keyword}", f"{keyword} is not supported"))
    if kind == "null":
        found.append(forbidden(f"{path}.type", "type cannot be set to null, use nullable as an alternative"))
    if isinstance(schema.get("items"), list) and schema["items"]:
        found.append(forbidden(f"{path}.items", "items must be a schema object and not an array"))
    if place.in_resource_meta and schema.get("x-kubernetes-embedded-resource"):
        detail = "must not be used inside of resource meta"
        found.append(forbidden(f"{path}.x-kubernetes-embedded-resource", detail))
    return found


def _additional_properties(path: str, schema: Json, place: _Place) -> list[FieldError]:
    additional = schema.get("additionalProperties")
    if additional is None:
        return []
    found = []
    if schema.get("properties") and additional is not True:
        detail = "additionalProperties and properties are mutual exclusive"
        found.append(forbidden(f"{path}.additionalProperties", detail))
    if isinstance(additional, dict):
        if place.scope is not None:
            place = replace(place, scope=place.scope.values())
        if place.in_resource_meta:
            place = replace(place, forbids_defaults="inside additionalProperties applying to object metadata")
        found += _schema(f"{path}.additionalProperties", additional, place)
    return found


def _below_logic(path: str, schema: Json, place: _Place) -> list[FieldError]:
    found: list[FieldError] = []
    if place.scope is not None:
        place = replace(place, scope=None)
    if "not" in schema:
        found += _schema(f"{path}.not", schema["not"], place)
    for keyword in ("allOf", "oneOf", "anyOf"):
        for index, child in enumerate(schema.get(keyword, ())):
            found += _schema(at(f"{path}.{keyword}", index), child, place)
    return found


def _extensions(path: str, schema: Json) -> list[FieldError]:
    found: list[FieldError] = []
    preserve = "x-kubernetes-preserve-unknown-fields"
    if schema.get(preserve) is False:
        found.append(invalid(f"{path}.{preserve}", False, "must be true or undefined"))
    found += _typed_extension(path, schema, "x-kubernetes-map-type", "object")
    map_type = schema.get("x-kubernetes-map-type")
    if map_type is not None and map_type not in MAP_TYPES:
        found.append(not_supported(f"{path}.x-kubernetes-map-type", map_type, MAP_TYPES))
    found += _typed_extension(path, schema, "x-kubernetes-list-type", "array") or _set_items(path, schema)
    list_type = schema.get("x-kubernetes-list-type")
    if list_type is not None and list_type not in LIST_TYPES:
        found.append(not_supported(f"{path}.x-kubernetes-list-type", list_type, LIST_TYPES))
    if schema.get("x-kubernetes-list-map-keys") and list_type != "map":
        place, detail = f"{path}.x-kubernetes-list-type", "must be map if x-kubernetes-list-map-keys is non-empty"
        found.append(required(place, detail) if list_type is None else invalid(place, list_type, detail))
    if list_type == "map":
        found += _map_list(path, schema)
    if list_type in ("set", "map") and isinstance(schema.get("items"), dict):
        found += _unambiguous_items(path, schema["items"], schema)
    return found


def _typed_extension(path: str, schema: Json, extension: str, wanted: str) -> list[FieldError]:
    kind = schema.get("type", "")
    if extension not in schema or kind == wanted:
        return []
    detail = f"must be {wanted} if {extension} is specified"
    return [invalid(f"{path}.type", kind, detail) if kind else required(f"{path}.type", detail)]


def _set_items(path: str, schema: Json) -> list[FieldError]:
    items = schema.get("items")
    if schema.get("x-kubernetes-list-type") != "set" or not isinstance(items, dict):
        return []
    detail = "must be atomic as item of a list with x-kubernetes-list-type=set"
    list_type = items.get("x-kubernetes-list-type")
    if items.get("type") == "array" and list_type not in (None, "atomic"):
        return [invalid(f"{path}.items.x-kubernetes-list-type", list_type, detail)]
    if items.get("type") == "object" and items.get("x-kubernetes-map-type") != "atomic":
        return [invalid(f"{path}.items.x-kubernetes-map-type", list_type, detail)]
    return []


def _map_list(path: str, schema: Json) -> list[FieldError]:
    found = []
    keys = schema.get("x-kubernetes-list-map-keys") or []
    items = schema.get("items")
    if not keys:
        detail = "must not be empty if x-kubernetes-list-type is map"
        found.append(required(f"{path}.x-kubernetes-list-map-keys", detail))
    if items is None:
        found.append(required(f"{path}.items", "must have a schema if x-kubernetes-list-type is map"))
    if not isinstance(items, dict):
        return found
    if items.get("type") != "object":
        detail = "must be object if parent array's x-kubernetes-list-type is map"
        return [*found, invalid(f"{path}.items.type", items.get("type", ""), detail)]
    seen = set()
    for key in keys:
        child = items.get("properties", {}).get(key)
        if child is None:
            detail = "entries must all be names of item properties"
            found.append(invalid(f"{path}.x-kubernetes-list-map-keys", keys, detail))
        elif child.get("type") in ("array", "object"):
            place = f"{at(f'{path}.items.properties', key=key)}.type"
            detail = "must be a scalar type if parent array's x-kubernetes-list-type is map"
            found.append(invalid(place, items["type"], detail))
        if key in seen:
            detail = "must not contain duplicate entries"
            found.append(invalid(f"{path}.x-kubernetes-list-map-keys", keys, detail))
        seen.add(key)
    return found


def _unambiguous_items(path: str, items: Json, schema: Json) -> list[FieldError]:
    list_type = schema["x-kubernetes-list-type"]
    found = []
    if items.get("nullable"):
        detail = f"cannot be nullable when x-kubernetes-list-type is {list_type}"
        found.append(forbidden(f"{path}.items.nullable", detail))
    if list_type == "set":
        return found
    for key in schema.get("x-kubernetes-list-map-keys") or ():
        child = items.get("properties", {}).get(key)
        if child is None:
            continue
        place = at(f"{path}.items.properties", key=key)
        belongs = "this property is in x-kubernetes-list-map-keys, so it"
        if key not in items.get("required", ()) and "default" not in child:
            found.append(required(f"{place}.default", f"{belongs} must have a default or be a required property"))
        if child.get("nullable"):
            found.append(forbidden(f"{place}.nullable", f"{belongs} cannot be nullable"))
    return found
