"""Defaults of APIService."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]

SERVICE_PORT = 443


def _api_service(obj: Json) -> None:
    service = obj["spec"].get("service")
    if service is not None:
        service.setdefault("port", SERVICE_PORT)


DEFAULTS = {"APIService": _api_service}
