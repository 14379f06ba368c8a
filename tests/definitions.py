"""CustomResourceDefinitions of one version, for tests that need a resource and not what is in it."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]

ANYTHING: Json = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def definition(
    kind: str,
    *,
    group: str = "example.com",
    scope: str = "Namespaced",
    spec: Json = ANYTHING,
    status: Json = ANYTHING,
    subresource: bool = True,
) -> Json:
    """A definition whose spec and status take anything, unless their schemas are given."""
    plural = f"{kind.lower()}s"
    schema = {"type": "object", "properties": {"spec": spec, "status": status}}
    version: Json = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    if subresource:
        version["subresources"] = {"status": {}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {"group": group, "scope": scope, "names": {"plural": plural, "kind": kind}, "versions": [version]},
    }
