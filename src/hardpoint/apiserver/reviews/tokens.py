"""TokenReview: whose token is this."""

from __future__ import annotations

from typing import Any

from hardpoint.apiserver.authentication.bearer import from_authorization
from hardpoint.apiserver.authentication.contract import INVALID, AllRefused
from hardpoint.apiserver.call import Call
from hardpoint.apiserver.reviews.identity import user_info
from hardpoint.machinery import errors

Json = dict[str, Any]


async def status_of(call: Call, obj: Json) -> Json:
    """As a request with this token would be seen. Why a token is not good is told to those who may ask."""
    spec = obj["spec"]
    if not spec.get("token"):
        raise errors.bad_request("token is required for TokenReview in authentication")
    authentication = call.services.authentication
    audiences = tuple(spec.get("audiences") or authentication.audiences)
    token = from_authorization(f"Bearer {spec['token']}")
    try:
        identified = await authentication.identify(token, audiences) if token else None
    except AllRefused as refused:
        return {"user": {}, "error": str(refused)}
    if identified is None:
        return {"user": {}, "error": INVALID}
    return {"authenticated": True, "user": user_info(identified.user), "audiences": list(identified.audiences)}
