"""How an author's classes are read from JSON and written to it: pydantic's own plan of a class, changed here and there.

Fields have their JSON names, unknown fields are kept in the object they were read into, times and bytes are written as
Kubernetes writes them, and JSON's types are taken at their word. The author's classes stay as they are: called by hand
they take Python names and know nothing of this. `wired` makes the changed plan; pydantic compiles it.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping
from typing import Any

from pydantic_core import core_schema

from hardpoint.machinery.errors import HardpointError
from hardpoint.seams.crd.guest import kept, spelling
from hardpoint.seams.crd.guest.markers import JSON_NAME, NULLABLE
from hardpoint.seams.crd.guest.naming import camel

Node = dict[str, Any]
"""A part of a plan: what `pydantic_core.core_schema` describes."""

EXACT = frozenset(("str", "int", "float", "bool"))
"""Types that take nothing but themselves: the text "3" is no number."""
FIELDS = frozenset(("model-field", "dataclass-field", "typed-dict-field"))
OPAQUE = frozenset(("default", "metadata", "expected", "members", "config", "serialization"))
"""Parts of a node that hold values, not further nodes."""


class NotStructural(HardpointError):
    """A type that no CustomResourceDefinition can describe; `path` is the field, in JSON's words."""

    def __init__(self, why: str, path: str = "") -> None:
        super().__init__(why)
        self.path = path


def wired(plan: Any) -> Node:
    """The plan of a type, changed, and with everything it refers to written out. Raises NotStructural."""
    definitions = {each["ref"]: each for each in plan.get("definitions", ())}
    top = plan["schema"] if plan["type"] == "definitions" else plan
    return _Wiring(definitions).node(top)


def is_required(field: Node) -> bool:
    return bool(field["schema"]["type"] != "default")


def without_default(field: Node) -> Node:
    """What a field holds, without what stands in when it is absent."""
    schema: Node = field["schema"]
    return schema["schema"] if schema["type"] == "default" else schema


def json_name(field: Node, name: str) -> str:
    """What a field is called in JSON: as it says itself, else its own name in camelCase."""
    said = without_default(field).get("metadata", {}).get(JSON_NAME) or field.get("metadata", {}).get(JSON_NAME)
    alias = said or field.get("serialization_alias") or field.get("validation_alias") or camel(name)
    if not isinstance(alias, str):
        raise NotStructural("has several aliases; a field has one name in JSON: use JsonName(...)", name)
    return alias


class _Wiring:
    """One walk over a plan."""

    def __init__(self, definitions: Mapping[str, Node]) -> None:
        self._definitions = definitions
        self._inside: list[str] = []
        self._path: list[str] = []

    def node(self, node: Node) -> Node:
        if node["type"] == "definition-ref":
            return self.node({**self._definitions[node["schema_ref"]], **_notes(node)})
        ref = node.get("ref", "")
        if ref and ref in self._inside:
            raise NotStructural("contains itself; schemas have an end: use dict[str, Any] there", ".".join(self._path))
        self._inside.append(ref)
        changed = {key: self._part(key, part) for key, part in node.items() if key != "ref"}
        self._inside.pop()
        change = CHANGES.get(node["type"])
        return change(changed) if change else changed

    def _part(self, key: str, part: Any) -> Any:
        if key in OPAQUE:
            return part
        if key == "fields" and isinstance(part, dict):
            return {name: self._field(name, field) for name, field in part.items()}
        if key == "fields":
            return [self._field(field["name"], field) if isinstance(field, dict) else field for field in part]
        if isinstance(part, dict) and "type" in part and key != "function":
            return self.node(part)
        if isinstance(part, list):
            return [self.node(each) if isinstance(each, dict) and "type" in each else each for each in part]
        return part

    def _field(self, name: str, field: Node) -> Node:
        wire = json_name(field, name)
        self._path.append(wire)
        changed = {**field, "schema": self.node(field["schema"]), "validation_alias": wire, "serialization_alias": wire}
        self._path.pop()
        held = without_default(changed)
        if held["type"] == "nullable" and not is_required(changed) and not is_explicitly_nullable(held):
            changed["serialization_exclude_if"] = _is_none
        return changed


def is_explicitly_nullable(node: Node) -> bool:
    return bool(node.get("metadata", {}).get(NULLABLE))


def _is_none(value: Any) -> bool:
    return value is None


def _notes(node: Node) -> Node:
    """What was said of a type where it is used, and not where it is defined."""
    return {key: node[key] for key in ("metadata", "serialization") if key in node}


def _model(node: Node) -> Node:
    if node.get("custom_init"):
        raise NotStructural(f"{node['cls'].__name__} has an __init__ of its own; use a validator instead")
    if node.get("root_model") or "serialization" in node:
        return node
    # Pydantic writes unknown fields only of models that were read; those that were made by hand have no room for them.
    writing = core_schema.wrap_serializer_function_ser_schema(_written_model, schema=_forgetful(node))
    return {**node, "serialization": writing}


def _written_model(model: Any, handler: Callable[[Any], Any]) -> Any:
    written = handler(model)
    unknown = getattr(model, "__pydantic_extra__", None)
    return {**written, **unknown} if unknown else written


def _forgetful(node: Node) -> Any:
    """The plan of a model without its unknown fields. Validators may be wrapped around the fields."""
    inner = node["schema"]
    if inner["type"] == "model-fields":
        return {**node, "schema": {**inner, "extra_behavior": "ignore"}}
    return {**node, "schema": _forgetful(inner)} if "schema" in inner else node


def _model_fields(node: Node) -> Node:
    return {**node, "extra_behavior": "allow", "computed_fields": []}


def _dataclass(node: Node) -> Node:
    if node.get("slots"):
        raise NotStructural(f"{node['cls'].__name__} has slots, and no room for unknown fields; leave slots=True out")
    return kept.keeping(node)


def _dataclass_args(node: Node) -> Node:
    return {**node, "extra_behavior": "ignore", "computed_fields": []}


def _written(write: Callable[[Any], Any]) -> Callable[[Node], Node]:
    """Write values with a function, unless the author has one."""
    serialization = core_schema.plain_serializer_function_ser_schema(write, when_used="unless-none")
    return lambda node: {"serialization": serialization, **node}


def _read_before(read: Callable[[Any], Any], write: Callable[[Any], Any]) -> Callable[[Node], Node]:
    writing = _written(write)
    return lambda node: writing(_around(core_schema.no_info_before_validator_function, read, node))


def _around(make: Callable[..., Any], function: Callable[..., Any], node: Node) -> Node:
    """The plan of a function around a type. What was said of the type is said of the whole, and once."""
    notes = _notes(node)
    return {**make(function, {key: value for key, value in node.items() if key not in notes}), **notes}


def _time(node: Node) -> Node:
    aware = {"tz_constraint": "aware", **node}
    read = _around(core_schema.no_info_wrap_validator_function, spelling.read_time, aware)
    return _written(spelling.time_text)(read)


def _duration(node: Node) -> Node:
    read = _around(core_schema.no_info_wrap_validator_function, spelling.read_duration, node)
    return _written(spelling.duration_text)(read)


def _own(value: Any) -> Any:
    """Free JSON is the reader's own: who changes it must not change what the object was read from."""
    if isinstance(value, dict):
        return {key: _own(item) for key, item in value.items()}
    return [_own(item) for item in value] if isinstance(value, list) else value


def _owned(node: Node) -> Node:
    return _around(core_schema.no_info_after_validator_function, _own, node)


_ANY = _owned({"type": "any"})


def _list(node: Node) -> Node:
    return {"items_schema": _ANY, **node}


def _dict(node: Node) -> Node:
    keys = node.get("keys_schema", _ANY)
    # Whatever a dict without parameters may hold elsewhere, in JSON its keys are texts.
    return {"values_schema": _ANY, **node, "keys_schema": {"type": "str"} if keys == _ANY else keys}


def _bytes(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return base64.b64decode(value, validate=True)
    except binascii.Error as wrong:
        raise ValueError("is no base64") from wrong


def _maybe_secret(node: Node) -> Node:
    """Pydantic's secrets are written as stars, which is right for a log and wrong for a cluster."""
    choices = node["python_schema"].get("choices", [node["python_schema"]])
    classes = [choice.get("cls") for choice in choices if isinstance(choice, dict)]
    return {**node, "serialization": _SECRET} if any(hasattr(cls, "get_secret_value") for cls in classes) else node


def _secret_text(secret: Any) -> Any:
    value = secret.get_secret_value()
    return _bytes_text(value) if isinstance(value, bytes) else value


_SECRET = core_schema.plain_serializer_function_ser_schema(_secret_text, when_used="unless-none")


def _bytes_text(value: bytes) -> str:
    return base64.b64encode(value).decode()


CHANGES: Mapping[str, Callable[[Node], Node]] = {
    **{name: lambda node: {**node, "strict": True} for name in EXACT},
    "any": _owned,
    "list": _list,
    "dict": _dict,
    "model": _model,
    "model-fields": _model_fields,
    "dataclass": _dataclass,
    "dataclass-args": _dataclass_args,
    "datetime": _time,
    "timedelta": _duration,
    "bytes": _read_before(_bytes, _bytes_text),
    "decimal": _written(str),
    "json-or-python": _maybe_secret,
    "set": _written(sorted),
    "frozenset": _written(sorted),
}
