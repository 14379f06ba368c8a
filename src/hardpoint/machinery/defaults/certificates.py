"""Defaults of PodCertificateRequest."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]

EXPIRATION_SECONDS = 24 * 3600


def _pod_request(obj: Json) -> None:
    obj["spec"].setdefault("maxExpirationSeconds", EXPIRATION_SECONDS)


DEFAULTS = {"PodCertificateRequest": _pod_request}
