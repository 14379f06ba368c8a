"""Making service accounts' tokens: what they claim, and for how long."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from secrets import randbits
from typing import Any, NamedTuple

from hardpoint.apiserver.authentication.options import ServiceAccountOptions
from hardpoint.apiserver.authentication.service_account_keys import ServiceAccountKeys
from hardpoint.machinery.uids import BITS, uid

Json = dict[str, Any]

WARN_SECONDS = 3607
"""An hour, and seven seconds by which a token that nobody chose the life of can be told."""
EXTENDED_SECONDS = 365 * 24 * 3600


class Issued(NamedTuple):
    token: str
    credential_id: str
    """What the token will be called where it is used."""


class TokenIssuer(NamedTuple):
    """Issues tokens in the name of the first issuer."""

    options: ServiceAccountOptions
    keys: ServiceAccountKeys
    audiences: Sequence[str]
    """What this API is called in tokens."""
    now: Callable[[], datetime]

    async def issue(self, account: Json, seconds: int, audiences: Sequence[str], bound: Mapping[str, Json]) -> Issued:
        """A token for an account, bound to the objects given by what claims call their kinds: `pod`, `node`, `secret`.

        The one that every pod gets is a special case: it lives on for a year, and is only called stale after its hour.
        """
        now = int(self.now().timestamp())
        is_extended = (
            self.options.extend_expiration
            and "pod" in bound
            and seconds == WARN_SECONDS
            and set(audiences) <= set(self.audiences)
        )
        metadata, identifier = account["metadata"], uid(randbits(BITS))
        namespace, name = metadata["namespace"], metadata["name"]
        private: Json = {
            "namespace": namespace,
            "serviceaccount": {"name": name, "uid": metadata["uid"]},
            **{kind: _reference(obj) for kind, obj in bound.items()},
        }
        if is_extended:
            private["warnafter"] = now + seconds
        claims = {
            "aud": list(audiences),
            "exp": now + (EXTENDED_SECONDS if is_extended else seconds),
            "iat": now,
            "iss": self.options.issuers[0],
            "jti": identifier,
            "kubernetes.io": private,
            "nbf": now,
            "sub": f"system:serviceaccount:{namespace}:{name}",
        }
        return Issued(await self.keys.sign(claims), f"JTI={identifier}")


def _reference(obj: Json) -> Json:
    metadata = obj["metadata"]
    return {field: metadata[field] for field in ("name", "uid") if metadata.get(field)}
