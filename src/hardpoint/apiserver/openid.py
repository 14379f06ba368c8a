"""How others verify service accounts' tokens: the discovery document of their issuer, and its keys.

Both are public by nature, and still the role system:service-account-issuer-discovery says who may read them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson

from hardpoint.apiserver.authentication.options import ServiceAccountOptions
from hardpoint.apiserver.authentication.service_account_keys import ServiceAccountKeys
from hardpoint.machinery import errors
from hardpoint.machinery.messages import Request, Response

Json = dict[str, Any]

CONFIGURATION = "/.well-known/openid-configuration"
KEYS = "/openid/v1/jwks"
JSON, JWKS = "application/json", "application/jwk-set+json"
_CACHE = (("Cache-Control", "public, max-age=3600"),)


class OpenId:
    """The issuer's documents. There are none unless the issuer is an https URL, without query and fragment."""

    def __init__(self, options: ServiceAccountOptions, keys: ServiceAccountKeys, address: str) -> None:
        self._issuer = options.issuers[0]
        self._jwks_uri = options.jwks_uri or f"https://{address}{KEYS}"
        self._keys = keys
        is_served = self._issuer.startswith("https://") and not {"?", "#"} & set(self._issuer)
        self._documents: dict[str, tuple[Callable[[], Json], str]] = (
            {CONFIGURATION: (self._configuration, JSON), KEYS: (self._key_set, JWKS)} if is_served else {}
        )

    def paths(self) -> list[str]:
        return list(self._documents)

    async def respond(self, request: Request) -> Response | None:
        """The answer to one of the paths, None for others. Raises 405 and 406."""
        found = self._documents.get(request.path.rstrip("/"))
        if found is None:
            return None
        make, media_type = found
        if request.method != "GET":
            raise errors.method_not_allowed()
        if not _accepts(request.headers.get("accept", ""), media_type):
            why = f"406: Not Acceptable\n\nAvailable representations: {media_type}"
            raise errors.ApiError(406, "NotAcceptable", why, details={})
        await self._keys.wait_until_loaded()
        return Response(200, orjson.dumps(make()), media_type, _CACHE)

    def _configuration(self) -> Json:
        return {
            "issuer": self._issuer,
            "jwks_uri": self._jwks_uri,
            "response_types_supported": ["id_token"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": sorted({key.algorithms[0] for key in self._keys.all}),
        }

    def _key_set(self) -> Json:
        return {"keys": [key.jwk() for key in self._keys.all]}


def _accepts(header: str, media_type: str) -> bool:
    accepted = [part.partition(";")[0].strip() for part in header.split(",")]
    return any(part in ("", "*/*", media_type, media_type.partition("/")[0] + "/*") for part in accepted)
