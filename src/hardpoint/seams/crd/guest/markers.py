"""Words that go into `Annotated[...]`, for what Kubernetes knows of a field and Python's types do not say.

    ports: Annotated[list[Port], MapKeys("name")]
    replicas: Annotated[int, Rule("self >= oldSelf", "replicas never shrink")]

Each changes the schema of the type it stands beside. Pydantic calls the two methods with dunder names.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema

Json = dict[str, Any]
Reason = Literal["FieldValueInvalid", "FieldValueForbidden", "FieldValueRequired", "FieldValueDuplicate"]

JSON_NAME, NULLABLE = "hardpoint_json_name", "hardpoint_nullable"
"""Where pydantic's metadata of a type holds what the markers said."""
VALIDATIONS = "x-kubernetes-validations"


class Marker(ABC):
    """Adds keywords to the schema of what it stands beside."""

    @abstractmethod
    def keywords(self, schema: Json) -> Json:
        """What to add; `schema` is what is there already. Raises ValueError where it cannot stand."""

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> Json:
        schema = handler(core)
        return {**schema, **self.keywords(schema)}


@dataclass(frozen=True)
class Rule(Marker):
    """A rule in CEL that the API server keeps: `self` is the value, `oldSelf` what it was before an update."""

    rule: str
    message: str = ""
    message_expression: str = ""
    """CEL that makes the message."""
    reason: Reason | Literal[""] = ""
    field_path: str = ""
    """Which field is at fault, if not the one the rule is about: `.spec.replicas`."""
    optional_old_self: bool | None = None

    NAMES: ClassVar[dict[str, str]] = {
        "rule": "rule",
        "message": "message",
        "message_expression": "messageExpression",
        "reason": "reason",
        "field_path": "fieldPath",
        "optional_old_self": "optionalOldSelf",
    }

    def to_json(self) -> Json:
        values = {name: getattr(self, field) for field, name in self.NAMES.items()}
        return {name: value for name, value in values.items() if value not in ("", None)}

    def keywords(self, schema: Json) -> Json:
        return {VALIDATIONS: [*schema.get(VALIDATIONS, ()), self.to_json()]}


class MapKeys(Marker):
    """A list whose items are told apart by these fields, as they are called in JSON: server-side apply merges them."""

    def __init__(self, *keys: str) -> None:
        self.keys = keys

    def keywords(self, schema: Json) -> Json:
        _must_be("array", schema, "MapKeys() stands beside a list of objects")
        if not self.keys:
            raise ValueError('MapKeys() needs the names of the fields, such as MapKeys("name")')
        return {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": list(self.keys)}


class Unique(Marker):
    """A list in which no item is there twice, and whose order means nothing. `set[...]` is such a list too."""

    def keywords(self, schema: Json) -> Json:
        _must_be("array", schema, "Unique() stands beside a list")
        return {"x-kubernetes-list-type": "set"}


class Atomic(Marker):
    """A list or an object that has one owner as a whole: server-side apply replaces it and never merges."""

    def keywords(self, schema: Json) -> Json:
        if schema.get("type") not in ("array", "object"):
            raise ValueError("Atomic() stands beside a list, a dict or a model")
        return {f"x-kubernetes-{'list' if schema['type'] == 'array' else 'map'}-type": "atomic"}


class PreserveUnknown(Marker):
    """The API server keeps fields of this object that the schema does not have."""

    def keywords(self, schema: Json) -> Json:
        return {"x-kubernetes-preserve-unknown-fields": True}


class EmbeddedResource(Marker):
    """The field is a whole Kubernetes object: apiVersion, kind and metadata are checked as such."""

    def keywords(self, schema: Json) -> Json:
        _must_be("object", schema, "EmbeddedResource() stands beside a dict or a model")
        return {"x-kubernetes-embedded-resource": True}


@dataclass(frozen=True)
class JsonName:
    """What a field is called in JSON, where that is not the Python name in camelCase."""

    name: str

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return _noted(handler(source), JSON_NAME, self.name)


class Nullable:
    """None is written as `null` and kept, where an optional field that is None is otherwise left out."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return _noted(handler(source), NULLABLE, True)


def _noted(schema: CoreSchema, key: str, value: Any) -> CoreSchema:
    """The same type, with a note that whoever compiles it reads. The type itself may be shared and stays as it is."""
    noted: Any = {**schema, "metadata": {**schema.get("metadata", {}), key: value}}
    return noted  # type: ignore[no-any-return]  # One of pydantic's many kinds of dict, with one key changed.


def _must_be(kind: str, schema: Json, words: str) -> None:
    if schema.get("type") != kind:
        raise ValueError(words)
