"""What a request may be told beyond its object: which objects are meant, who writes, how to delete."""

from __future__ import annotations

from typing import Any, Literal, TypedDict

Json = dict[str, Any]

ALL_NAMESPACES = ""
PATCH_TYPES = {
    "merge": "application/merge-patch+json",
    "json": "application/json-patch+json",
    "strategic": "application/strategic-merge-patch+json",
    "apply": "application/apply-patch+yaml",
}
PatchStrategy = Literal["merge", "json", "strategic", "apply"]
Propagation = Literal["Background", "Foreground", "Orphan"]


class WriteOptions(TypedDict, total=False):
    """What every write may be told."""

    dry_run: bool
    field_manager: str
    field_validation: Literal["Ignore", "Warn", "Strict"]


class Selection(TypedDict, total=False):
    """Which objects of a resource are meant. Without a namespace it is the client's; ALL_NAMESPACES means all."""

    namespace: str | None
    label_selector: str
    field_selector: str


def selectors(selection: Selection) -> dict[str, str]:
    """The query of a list, a watch or a delete of many."""
    wanted = {
        "labelSelector": selection.get("label_selector", ""),
        "fieldSelector": selection.get("field_selector", ""),
    }
    return {key: value for key, value in wanted.items() if value}


def write_query(options: WriteOptions) -> dict[str, str]:
    """The query of a write; what is empty was not said."""
    return {
        "dryRun": "All" if options.get("dry_run") else "",
        "fieldManager": options.get("field_manager", ""),
        "fieldValidation": options.get("field_validation", ""),
    }


def delete_options(
    propagation: Propagation | None,
    grace_seconds: int | None,
    *,
    dry_run: bool,
    uid: str = "",
    resource_version: str = "",
) -> Json:
    """The body of a delete."""
    options: Json = {"kind": "DeleteOptions", "apiVersion": "v1"}
    if propagation is not None:
        options["propagationPolicy"] = propagation
    if grace_seconds is not None:
        options["gracePeriodSeconds"] = grace_seconds
    if dry_run:
        options["dryRun"] = ["All"]
    preconditions = {"uid": uid, "resourceVersion": resource_version}
    if any(preconditions.values()):
        options["preconditions"] = {key: value for key, value in preconditions.items() if value}
    return options
