"""A small custom kind that has every sort of field, and the built-in ones tests use."""

from __future__ import annotations

from typing import Any

from hardpoint.machinery.apply import Type, Updater, of_schema, of_shape
from hardpoint.machinery.apply.fieldsets import FieldSet
from hardpoint.machinery.apply.tracking import Tracker
from hardpoint.machinery.shapes import shape

Json = dict[str, Any]

API_VERSION, KIND = "example.com/v1", "Thing"
SCHEMA: Json = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "properties": {
                "size": {"type": "integer"},
                "mode": {"type": "string"},
                "tags": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
                "raw": {"type": "array", "items": {"type": "integer"}},
                "parts": {
                    "type": "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["name", "kind"],
                    "items": {
                        "type": "object",
                        "properties": {
                            "name": {"type": "string"},
                            "kind": {"type": "string", "default": "std"},
                            "weight": {"type": "integer"},
                            "note": {"type": "string"},
                        },
                    },
                },
                "opts": {
                    "type": "object",
                    "x-kubernetes-map-type": "atomic",
                    "additionalProperties": {"type": "string"},
                },
                "more": {"type": "object", "additionalProperties": {"type": "string"}},
                "either": {"x-kubernetes-int-or-string": True},
                "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                "pod": {"type": "object", "x-kubernetes-embedded-resource": True},
            },
        },
    },
}
THING: Type = of_schema(SCHEMA)
POD: Type = of_shape(shape("v1", "Pod"))
SERVICE: Type = of_shape(shape("v1", "Service"))


class OneVersion:
    """A kind that has one version, which may change."""

    may_change = True

    def __init__(self, kind: Type = THING, api_version: str = API_VERSION) -> None:
        self._types = {api_version: kind}

    def type_of(self, api_version: str) -> Type | None:
        return self._types.get(api_version)

    def convert(self, obj: Json, api_version: str) -> Json:
        return {**obj, "apiVersion": api_version}


def everything(fields: FieldSet) -> FieldSet:
    """What an endpoint keeps that resets nothing."""
    return fields


def tracker(kind: Type = THING) -> Tracker:
    empty = {"apiVersion": API_VERSION, "kind": KIND, "metadata": {}}
    return Tracker(Updater(OneVersion(kind), API_VERSION, everything), empty)


def thing(spec: Json | None = None, **metadata: Any) -> Json:
    """A Thing; what is not said is not there."""
    obj: Json = {"apiVersion": API_VERSION, "kind": KIND, "metadata": {"name": "t", **metadata}}
    return obj if spec is None else {**obj, "spec": spec}
