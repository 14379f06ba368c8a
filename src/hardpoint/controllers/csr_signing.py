"""Signs the requests that were approved, for the signers whose authorities it was given."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

from hardpoint.client.client import Client
from hardpoint.controllers.signing_requests import SigningRequests, certificate_of, has_condition, with_condition
from hardpoint.machinery import signingrequests
from hardpoint.machinery.signingrequests import BadRequest, SigningRequest
from hardpoint.runtime.metadata import MetadataFollower, Sink
from hardpoint.serving.certificates import Authority

Json = dict[str, Any]

LIFE_MAX = timedelta(days=365)


class CsrSigning(SigningRequests):
    """What breaks a signer's rules is marked Failed, and never looked at again."""

    def __init__(
        self,
        client: Client,
        follower: MetadataFollower,
        authorities: Mapping[str, Authority],
        *,
        now: Callable[[], datetime],
        life_max: timedelta = LIFE_MAX,
    ) -> None:
        """`authorities` by the name of the signer; a request asks for a shorter life than `life_max`, or gets that."""
        super().__init__(client, follower, now=now)
        self._authorities = authorities
        self._life_max = life_max

    async def look(self, request: Json) -> None:
        spec = request["spec"]
        if spec.get("signerName") not in self._authorities or certificate_of(request):
            return
        if not has_condition(request, "Approved") or has_condition(request, "Denied", "Failed"):
            return
        try:
            asked = signingrequests.parse(spec["request"])
        except BadRequest as wrong:
            await self._fail(request, "SignerValidationFailure", str(wrong))
            return
        if why := signingrequests.why_not(spec["signerName"], asked, spec.get("usages") or []):
            await self._fail(request, "SignerValidationFailure", why)
            return
        await self._sign(request, asked)

    async def _sign(self, request: Json, asked: SigningRequest) -> None:
        # A costly import that most clusters do without.
        from hardpoint.serving.signing import Unsignable, sign

        spec = request["spec"]
        seconds = spec.get("expirationSeconds")
        life = self._life_max if seconds is None else min(timedelta(seconds=seconds), self._life_max)
        authority = self._authorities[spec["signerName"]]
        try:
            certificate = await asyncio.to_thread(
                sign, asked, authority, usages=spec["usages"], life=life, now=self._now()
            )
        except Unsignable as wrong:
            await self._fail(request, "SigningFailure", str(wrong))
            return
        issued = {**(request.get("status") or {}), "certificate": base64.b64encode(certificate).decode()}
        await self._client.replace_status({**request, "status": issued})

    async def _fail(self, request: Json, reason: str, message: str) -> None:
        await self._client.replace_status(with_condition(request, type="Failed", reason=reason, message=message))


_conforms: type[Sink] = CsrSigning
