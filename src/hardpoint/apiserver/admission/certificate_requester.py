"""A certificate signing request says who asks for it; the server writes that down, whatever the client says.

Upstream does this in the kind's strategy, which knows the request. Ours are pure, so it is done here, last of all.
"""

from __future__ import annotations

from typing import Any

from hardpoint.apiserver.admission.contract import Attributes, Mutates, Reader

Json = dict[str, Any]


class CertificateRequester:
    async def mutate(self, attributes: Attributes, reader: Reader) -> None:
        if attributes.kind.resource != "certificatesigningrequests.certificates.k8s.io" or attributes.subresource:
            return
        if attributes.operation != "CREATE" or attributes.object is None:
            return
        user = attributes.user
        says: Json = {
            "username": user.name,
            "uid": user.uid,
            "groups": list(user.groups),
            "extra": {key: list(values) for key, values in user.extra.items()},
        }
        spec = attributes.object["spec"]
        for field, value in says.items():
            if value:
                spec[field] = value
            else:
                spec.pop(field, None)


_conforms: type[Mutates] = CertificateRequester
