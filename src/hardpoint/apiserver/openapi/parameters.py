"""The parameters of requests: which there are, of which type, and which of them a path's operations share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hardpoint.machinery import shapes

Json = dict[str, Any]

_QUERY: Mapping[str, tuple[str, str]] = {
    "allowWatchBookmarks": (
        "boolean",
        "Send BOOKMARK events in a watch, so that it can be resumed from a later point.",
    ),
    "continue": ("string", "The token of an earlier, limited list: go on after its last item."),
    "dryRun": ("string", "With All the request takes every step but is not stored."),
    "fieldManager": ("string", "Who is responsible for the fields this request sets; required for apply."),
    "fieldSelector": ("string", "Only objects whose fields match, as in metadata.name=web."),
    "fieldValidation": (
        "string",
        "What to do about unknown and repeated fields: Ignore, Warn (the default) or Strict.",
    ),
    "force": ("boolean", "Take over fields that other managers own. For apply only."),
    "gracePeriodSeconds": (
        "integer",
        "How long the object may take to end; 0 is at once, the default is the object's.",
    ),
    "ignoreStoreReadErrorWithClusterBreakingPotential": (
        "boolean",
        "Delete an object that cannot be read from the store, without finalizers. Dangerous.",
    ),
    "labelSelector": ("string", "Only objects whose labels match, as in app=web,tier!=cache."),
    "limit": ("integer", "At most so many items; the list then carries a token to continue with."),
    "orphanDependents": ("boolean", "Deprecated: use propagationPolicy."),
    "pretty": ("string", "With true the answer is indented."),
    "propagationPolicy": ("string", "What becomes of dependents: Orphan, Background or Foreground."),
    "resourceVersion": ("string", "The version the answer may be made from; resourceVersionMatch says how."),
    "resourceVersionMatch": ("string", "How resourceVersion is meant: Exact or NotOlderThan."),
    "sendInitialEvents": ("boolean", "Begin a watch with the objects there are, ended by a BOOKMARK event."),
    "timeoutSeconds": ("integer", "End the list or watch after so many seconds."),
    "watch": ("boolean", "Send changes as they happen instead of a list."),
}
_IN_PATH: Mapping[str, str] = {
    "name": "The object's name.",
    "namespace": "The namespace it is in.",
    "path": "The rest of the URL, passed on.",
}

LIST = (
    *("allowWatchBookmarks", "continue", "fieldSelector", "labelSelector", "limit", "resourceVersion"),
    *("resourceVersionMatch", "sendInitialEvents", "timeoutSeconds", "watch"),
)
WRITE = ("dryRun", "fieldManager", "fieldValidation")
DELETE = (
    *("dryRun", "gracePeriodSeconds", "ignoreStoreReadErrorWithClusterBreakingPotential"),
    *("orphanDependents", "propagationPolicy"),
)
DELETE_COLLECTION = (
    *("continue", "dryRun", "fieldSelector", "gracePeriodSeconds", "ignoreStoreReadErrorWithClusterBreakingPotential"),
    *("labelSelector", "limit", "orphanDependents", "propagationPolicy", "resourceVersion", "resourceVersionMatch"),
    *("sendInitialEvents", "timeoutSeconds"),
)

_TYPES = {"bool": "boolean", "int32": "integer", "int64": "integer"}


def in_query(names: Sequence[str]) -> list[Json]:
    """Parameters of the query that every kind knows, by name."""
    return [_KNOWN[name] for name in names]


def in_path(path: str) -> list[Json]:
    """The parameters a path's braces stand for."""
    return [
        {"name": name, "in": "path", "required": True, "description": about, "schema": {"type": "string"}}
        for name, about in _IN_PATH.items()
        if f"{{{name}}}" in path
    ]


def of_options(api_version: str, kind: str) -> list[Json]:
    """The fields of an options kind, such as PodExecOptions, which travel in the query; only simple ones can."""
    shape = shapes.find(api_version, kind)
    fields = [field for field in shape.fields.values() if field.number and "." not in field.type] if shape else []
    return [_in_query(field.name, _TYPES.get(field.type, "string"), "") for field in fields]


def hoist(item: Json) -> Json:
    """Move what all operations of a path have in common to the path itself; `item` maps methods to operations."""
    lists = [operation["parameters"] for operation in item.values()]
    common = [one for one in lists[0] if all(one in others for others in lists[1:])]
    for operation in item.values():
        operation["parameters"] = [one for one in operation["parameters"] if one not in common]
        if not operation["parameters"]:
            del operation["parameters"]
    return {**item, "parameters": sorted(common, key=lambda one: str(one["name"]))} if common else item


def _in_query(name: str, kind: str, about: str) -> Json:
    parameter: Json = {"name": name, "in": "query", "schema": {"type": kind, "uniqueItems": True}}
    if about:
        parameter["description"] = about
    return parameter


_KNOWN = {name: _in_query(name, kind, about) for name, (kind, about) in _QUERY.items()}
