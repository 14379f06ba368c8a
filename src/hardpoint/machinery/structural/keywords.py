"""The words that structural schemas add to OpenAPI's, and the fields that every object has."""

from __future__ import annotations

EMBEDDED = "x-kubernetes-embedded-resource"
INT_OR_STRING = "x-kubernetes-int-or-string"
LIST_MAP_KEYS = "x-kubernetes-list-map-keys"
LIST_TYPE = "x-kubernetes-list-type"
MAP_TYPE = "x-kubernetes-map-type"
PRESERVE = "x-kubernetes-preserve-unknown-fields"
RULES = "x-kubernetes-validations"

MAP_TYPES = ("atomic", "granular")
RESOURCE_FIELDS = ("apiVersion", "kind", "metadata")
