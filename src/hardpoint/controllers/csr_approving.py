"""Kubelets get their client certificates without anybody being asked, if they may ask for them.

A kubelet that joins needs the permission to create `certificatesigningrequests/nodeclient`, one that renews its own
certificate `certificatesigningrequests/selfnodeclient`. Every other request waits for a person.
"""

from __future__ import annotations

from typing import Any

from hardpoint.client.resources import Resource
from hardpoint.controllers.signing_requests import SigningRequests, certificate_of, has_condition, with_condition
from hardpoint.machinery import signingrequests
from hardpoint.machinery.signingrequests import KUBELET_CLIENT, BadRequest
from hardpoint.runtime.metadata import Sink
from hardpoint.runtime.workqueue import LookAgain

Json = dict[str, Any]

_REVIEWS = Resource("authorization.k8s.io/v1", "subjectaccessreviews", "SubjectAccessReview", namespaced=False)
_SELF = ("selfnodeclient", "Auto approving self kubelet client certificate after SubjectAccessReview.")
_OTHER = ("nodeclient", "Auto approving kubelet client certificate after SubjectAccessReview.")


class CsrApproving(SigningRequests):
    async def look(self, request: Json) -> None:
        if certificate_of(request) or has_condition(request, "Approved", "Denied"):
            return
        tried = _permissions(request)
        for permission, message in tried:
            if await self._may(request["spec"], permission):
                approved = with_condition(request, type="Approved", reason="AutoApproved", message=message)
                await self._client.update(approved, subresource="approval")
                return
        if tried:
            # Somebody may be about to grant it.
            raise LookAgain(f"recognized as {[name for name, _ in tried]} but subject access review was not approved")

    async def _may(self, spec: Json, permission: str) -> bool:
        asked = {
            "group": "certificates.k8s.io",
            "version": "*",
            "resource": "certificatesigningrequests",
            "subresource": permission,
            "verb": "create",
        }
        who = {"user": spec.get("username", ""), "uid": spec.get("uid", "")}
        more = {"groups": spec.get("groups") or [], "extra": spec.get("extra") or {}}
        review = {
            "apiVersion": _REVIEWS.api_version,
            "kind": _REVIEWS.kind,
            "spec": {**who, **more, "resourceAttributes": asked},
        }
        answer = await self._client.create(review, resource=_REVIEWS)
        return bool(answer["status"].get("allowed"))


def _permissions(request: Json) -> list[tuple[str, str]]:
    """What its sender must be permitted for the request to be approved, with what is said then; one is enough."""
    spec = request["spec"]
    if spec.get("signerName") != KUBELET_CLIENT:
        return []
    try:
        asked = signingrequests.parse(spec["request"])
    except BadRequest:
        return []
    if signingrequests.why_not(KUBELET_CLIENT, asked, spec.get("usages") or []):
        return []
    return [_SELF, _OTHER] if spec.get("username") == asked.common_name else [_OTHER]


_conforms: type[Sink] = CsrApproving
