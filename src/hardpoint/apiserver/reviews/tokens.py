"""TokenReview: whose token is this."""

from __future__ import annotations

from typing import Any

from hardpoint.apiserver.call import Call
from hardpoint.machinery import errors

Json = dict[str, Any]


async def status_of(call: Call, obj: Json) -> Json:
    if not obj["spec"].get("token"):
        raise errors.bad_request("token is required for TokenReview in authentication")
    return {"user": {}, "error": "invalid bearer token"}
