"""`PartialObjectMetadata`: an object of any kind with nothing left but its metadata."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Json = dict[str, Any]

# Annotations that are a field to the server, and appear in the whole object only.
_HIDDEN = {("apps/v1", "DaemonSet"): "deprecated.daemonset.template.generation"}


def partial_metadata(obj: Mapping[str, Any], version: str = "v1") -> Json:
    """The object reduced to its metadata, in a version of meta.k8s.io."""
    metadata = obj.get("metadata", {})
    hidden = _HIDDEN.get((obj.get("apiVersion", ""), obj.get("kind", "")))
    if hidden and hidden in (metadata.get("annotations") or {}):
        metadata = {**metadata, "annotations": {k: v for k, v in metadata["annotations"].items() if k != hidden}}
        if not metadata["annotations"]:
            del metadata["annotations"]
    return {"kind": "PartialObjectMetadata", "apiVersion": f"meta.k8s.io/{version}", "metadata": metadata}
