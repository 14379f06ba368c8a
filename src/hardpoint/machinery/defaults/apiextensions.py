"""Defaults of CustomResourceDefinition: its derived names, no conversion, the version it is stored in."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]

WEBHOOK_PORT = 443


def _custom_resource_definition(obj: Json) -> None:
    spec = obj["spec"]
    names = spec["names"]
    kind = names.get("kind", "")
    if not names.get("singular") and kind:
        names["singular"] = kind.lower()
    if not names.get("listKind") and kind:
        names["listKind"] = f"{kind}List"
    conversion = spec.setdefault("conversion", {"strategy": "None"})
    service = conversion.get("webhook", {}).get("clientConfig", {}).get("service")
    if service is not None:
        service.setdefault("port", WEBHOOK_PORT)
    status = obj.setdefault("status", {})
    if not status.get("storedVersions"):
        stored = [version["name"] for version in spec.get("versions") or () if version.get("storage")]
        status["storedVersions"] = stored[:1] or None


DEFAULTS = {"CustomResourceDefinition": _custom_resource_definition}
