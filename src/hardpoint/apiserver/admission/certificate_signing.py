"""Who issues a certificate, or says that it could not be, must be allowed to `sign` for the request's signer.

Pods' certificate requests are held to the same here. Upstream does that in the kind's strategy, and so the refusal is
another.
"""

from __future__ import annotations

from typing import Any

from hardpoint.apiserver.admission.contract import Attributes, Reader, Validates
from hardpoint.apiserver.admission.refusals import refused
from hardpoint.apiserver.admission.signers import REQUESTS, may_act_for
from hardpoint.apiserver.authorization.contract import Authorizer
from hardpoint.machinery import errors
from hardpoint.machinery.errors import ApiError
from hardpoint.machinery.fielderrors import forbidden, quote

Json = dict[str, Any]

POD_REQUESTS = "podcertificaterequests.certificates.k8s.io"


class CertificateSigning:
    def __init__(self, authorizer: Authorizer) -> None:
        self._authorizer = authorizer

    async def validate(self, attributes: Attributes, reader: Reader) -> None:
        new, old = attributes.object, attributes.old
        refusal = _REFUSALS.get(attributes.kind.resource)
        if refusal is None or attributes.subresource != "status" or new is None or old is None:
            return
        signer = old["spec"].get("signerName", "")
        if _signed(new) != _signed(old) and not await may_act_for(self._authorizer, attributes.user, "sign", signer):
            raise refusal(attributes, signer)


def _signed(request: Json) -> Json:
    """What a signer says: nothing and an empty list are the same."""
    return {name: value for name, value in (request.get("status") or {}).items() if value}


def _refused(attributes: Attributes, signer: str) -> ApiError:
    return refused(attributes, f"user not permitted to sign requests with signerName {quote(signer)}")


def _refused_for_pod(attributes: Attributes, signer: str) -> ApiError:
    told = f'User {quote(attributes.user.name)} is not permitted to "sign" for signer {quote(signer)}'
    return errors.invalid(attributes.kind.qualified, attributes.name, [forbidden("spec.signerName", told)])


_REFUSALS = {REQUESTS: _refused, POD_REQUESTS: _refused_for_pod}

_conforms: type[Validates] = CertificateSigning
