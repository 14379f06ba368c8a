"""Who approves or denies a signing request must be allowed to `approve` for its signer."""

from __future__ import annotations

from hardpoint.apiserver.admission.contract import Attributes, Reader, Validates
from hardpoint.apiserver.admission.refusals import refused
from hardpoint.apiserver.admission.signers import REQUESTS, may_act_for
from hardpoint.apiserver.authorization.contract import Authorizer
from hardpoint.machinery.fielderrors import quote


class CertificateApproval:
    def __init__(self, authorizer: Authorizer) -> None:
        self._authorizer = authorizer

    async def validate(self, attributes: Attributes, reader: Reader) -> None:
        if attributes.kind.resource != REQUESTS or attributes.subresource != "approval":
            return
        # The old object says which signer it is: the new one is the client's word.
        assert attributes.old is not None, "an approval is an update"
        signer = attributes.old["spec"].get("signerName", "")
        if not await may_act_for(self._authorizer, attributes.user, "approve", signer):
            raise refused(attributes, f"user not permitted to approve requests with signerName {quote(signer)}")


_conforms: type[Validates] = CertificateApproval
