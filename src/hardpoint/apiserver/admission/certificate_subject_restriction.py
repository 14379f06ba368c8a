"""Nobody becomes a member of `system:masters` by a certificate: they could do everything until it expires."""

from __future__ import annotations

from hardpoint.apiserver.admission.contract import Attributes, Reader, Validates
from hardpoint.apiserver.admission.refusals import refused
from hardpoint.apiserver.admission.signers import REQUESTS
from hardpoint.apiserver.authentication.contract import MASTERS
from hardpoint.machinery import signingrequests


class CertificateSubjectRestriction:
    async def validate(self, attributes: Attributes, reader: Reader) -> None:
        if attributes.kind.resource != REQUESTS or attributes.subresource or attributes.operation != "CREATE":
            return
        assert attributes.object is not None, "a create has an object"
        spec = attributes.object["spec"]
        if spec["signerName"] != signingrequests.CLIENT:
            return
        try:
            asked = signingrequests.parse(spec["request"])
        except signingrequests.BadRequest as wrong:
            raise refused(attributes, f"failed to parse CSR: {wrong}") from wrong
        if MASTERS in asked.organizations:
            why = f"use of {signingrequests.CLIENT} signer with {MASTERS} group is not allowed"
            raise refused(attributes, why)


_conforms: type[Validates] = CertificateSubjectRestriction
