"""What happens to certificate signing requests on their way in. Who asks is filled in by the server."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]


def _update(obj: Json, old: Json) -> None:
    """What was asked for cannot be changed, and what was decided only by its own endpoints."""
    obj["spec"] = old["spec"]


UPDATE = {"CertificateSigningRequest": _update}
