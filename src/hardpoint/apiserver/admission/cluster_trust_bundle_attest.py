"""Who says whom to trust in a signer's name must be allowed to `attest` for that signer."""

from __future__ import annotations

from typing import Any

from hardpoint.apiserver.admission.contract import Attributes, Reader, Validates
from hardpoint.apiserver.admission.refusals import refused
from hardpoint.apiserver.admission.signers import may_act_for
from hardpoint.apiserver.authorization.contract import Authorizer
from hardpoint.machinery.fielderrors import quote

Json = dict[str, Any]

# What the garbage collector changes, and what changes by itself.
_GARBAGE = ("finalizers", "managedFields", "ownerReferences", "resourceVersion")


class ClusterTrustBundleAttest:
    def __init__(self, authorizer: Authorizer) -> None:
        self._authorizer = authorizer

    async def validate(self, attributes: Attributes, reader: Reader) -> None:
        bundle = attributes.object
        if attributes.kind.resource != "clustertrustbundles.certificates.k8s.io" or bundle is None:
            return
        signer = bundle["spec"].get("signerName", "")
        if not signer or (attributes.old is not None and _said(bundle) == _said(attributes.old)):
            return
        if not await may_act_for(self._authorizer, attributes.user, "attest", signer):
            raise refused(attributes, f"user not permitted to attest for signerName {quote(signer)}")


def _said(bundle: Json) -> Json:
    metadata = {name: value for name, value in bundle["metadata"].items() if name not in _GARBAGE}
    return {**bundle, "metadata": metadata}


_conforms: type[Validates] = ClusterTrustBundleAttest
