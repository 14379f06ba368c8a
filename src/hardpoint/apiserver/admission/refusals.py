"""How a plugin says no."""

from __future__ import annotations

from hardpoint.apiserver.admission.contract import Attributes
from hardpoint.machinery import errors


def refused(attributes: Attributes, why: str) -> errors.ApiError:
    """403 about the object at hand, which may still be without a name of its own."""
    metadata = (attributes.object or {}).get("metadata") or {}
    name = attributes.name or metadata.get("generateName") or "Unknown"
    return errors.forbidden(attributes.kind.resource, name, why)
