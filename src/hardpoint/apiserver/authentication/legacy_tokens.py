"""Service accounts' tokens of the old kind: without an end, kept in a Secret, good as long as the Secret holds them."""

from __future__ import annotations

import hmac
from base64 import b64decode
from typing import Any

from hardpoint.apiserver.admission.contract import Reader
from hardpoint.apiserver.authentication.objects import key_of
from hardpoint.apiserver.authentication.service_account_tokens import Claims, account_user
from hardpoint.seams.authentication.contract import Identified, RefusedCredential

Json = dict[str, Any]

ISSUER = "kubernetes/serviceaccount"
INVALID_SINCE = "kubernetes.io/legacy-token-invalid-since"

_PREFIX = "kubernetes.io/serviceaccount/"
_CLAIMS = {
    "namespace": "namespace",
    "secret.name": "secretName",
    "service-account.name": "serviceAccountName",
    "service-account.uid": "serviceAccountUID",
}
"""The claims, and what they are called when they are missing."""


class LegacyClaims:
    """Tokens that a controller put into a Secret of type kubernetes.io/service-account-token."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    async def check(self, claims: Json, token: str) -> Identified:
        namespace, secret_name, name, uid = (_claimed(claims, claim, told) for claim, told in _CLAIMS.items())
        if claims.get("sub") != f"system:serviceaccount:{namespace}:{name}":
            raise RefusedCredential("sub claim is invalid")
        secret = await self._reader.get("", "secrets", namespace, secret_name)
        if secret is None or "deletionTimestamp" in secret["metadata"]:
            raise RefusedCredential("Token has been invalidated")
        if not hmac.compare_digest(b64decode((secret.get("data") or {}).get("token", "")), token.encode()):
            raise RefusedCredential("Token does not match server's copy")
        await self._check_account(namespace, name, uid)
        if (secret["metadata"].get("labels") or {}).get(INVALID_SINCE):
            why = f"the token in secret {namespace}/{secret_name} for service account {namespace}/{name}"
            raise RefusedCredential(f"{why} has been marked invalid; see its label {INVALID_SINCE}")
        rests_on = (key_of("secrets", namespace, secret_name), key_of("serviceaccounts", namespace, name))
        return Identified(account_user(namespace, name, uid), rests_on=rests_on)

    async def _check_account(self, namespace: str, name: str, uid: str) -> None:
        account = await self._reader.get("", "serviceaccounts", namespace, name)
        if account is None:
            raise RefusedCredential(f'serviceaccounts "{name}" not found')
        if "deletionTimestamp" in account["metadata"]:
            raise RefusedCredential(f"ServiceAccount {namespace}/{name} has been deleted")
        if account["metadata"]["uid"] != uid:
            raise RefusedCredential(f"ServiceAccount UID ({account['metadata']['uid']}) does not match claim ({uid})")


def _claimed(claims: Json, name: str, told: str) -> str:
    value = claims.get(_PREFIX + name)
    if not isinstance(value, str) or not value or "/" in value:
        raise RefusedCredential(f"{told} claim is missing")
    return value


_conforms: type[Claims] = LegacyClaims
