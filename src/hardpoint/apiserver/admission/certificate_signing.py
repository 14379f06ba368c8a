"""Who issues a certificate, or says that it could not be, must be allowed to `sign` for the request's signer."""

from __future__ import annotations

from typing import Any

from hardpoint.apiserver.admission.contract import Attributes, Reader, Validates
from hardpoint.apiserver.admission.refusals import refused
from hardpoint.apiserver.admission.signers import REQUESTS, may_act_for
from hardpoint.apiserver.authorization.contract import Authorizer
from hardpoint.machinery.fielderrors import quote

Json = dict[str, Any]


class CertificateSigning:
    def __init__(self, authorizer: Authorizer) -> None:
        self._authorizer = authorizer

    async def validate(self, attributes: Attributes, reader: Reader) -> None:
        if attributes.kind.resource != REQUESTS or attributes.subresource != "status":
            return
        assert attributes.object is not None, "an update has an object"
        assert attributes.old is not None, "and an object it replaces"
        if _signed(attributes.object) == _signed(attributes.old):
            return
        signer = attributes.old["spec"].get("signerName", "")
        if not await may_act_for(self._authorizer, attributes.user, "sign", signer):
            raise refused(attributes, f"user not permitted to sign requests with signerName {quote(signer)}")


def _signed(request: Json) -> tuple[str, list[Json]]:
    status = request.get("status") or {}
    return status.get("certificate") or "", status.get("conditions") or []


_conforms: type[Validates] = CertificateSigning
