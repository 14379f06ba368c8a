"""The words of a custom resource: `from hardpoint.crd import Resource, Rule`."""

from hardpoint.seams.crd.guest.conditions import Condition, Conditions
from hardpoint.seams.crd.guest.definition import Column, Scale
from hardpoint.seams.crd.guest.markers import (
    Atomic,
    EmbeddedResource,
    JsonName,
    MapKeys,
    Nullable,
    PreserveUnknown,
    Rule,
    Unique,
)
from hardpoint.seams.crd.guest.resource import Resource
from hardpoint.seams.crd.guest.values import Int32, Int64, IntOrString, MicroTime, Quantity

__all__ = [
    "Atomic",
    "Column",
    "Condition",
    "Conditions",
    "EmbeddedResource",
    "Int32",
    "Int64",
    "IntOrString",
    "JsonName",
    "MapKeys",
    "MicroTime",
    "Nullable",
    "PreserveUnknown",
    "Quantity",
    "Resource",
    "Rule",
    "Scale",
    "Unique",
]
