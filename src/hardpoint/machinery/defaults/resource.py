"""Defaults of dynamic resource allocation: how many devices a request asks for, how a toleration compares.

A device taint's `timeAdded` is a time, and so left to the server's clock.
"""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]


def _resource_claim(obj: Json) -> None:
    _claim_spec(obj["spec"])
    results = obj.get("status", {}).get("allocation", {}).get("devices", {}).get("results", ())
    for result in results:
        _tolerations(result)


def _resource_claim_template(obj: Json) -> None:
    _claim_spec(obj["spec"]["spec"])


def _claim_spec(spec: Json) -> None:
    for request in spec.get("devices", {}).get("requests") or ():
        if "exactly" in request:
            _request(request["exactly"])
        for alternative in request.get("firstAvailable", ()):
            _request(alternative)


def _request(request: Json) -> None:
    if not request.get("allocationMode"):
        request["allocationMode"] = "ExactCount"
    if request["allocationMode"] == "ExactCount" and not request.get("count"):
        request["count"] = 1
    _tolerations(request)


def _tolerations(holder: Json) -> None:
    for toleration in holder.get("tolerations", ()):
        if not toleration.get("operator"):
            toleration["operator"] = "Equal"


DEFAULTS = {"ResourceClaim": _resource_claim, "ResourceClaimTemplate": _resource_claim_template}
