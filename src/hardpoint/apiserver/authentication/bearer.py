"""Where a request carries a bearer token: in its Authorization header or, for browsers' WebSockets that cannot set
one, among the subprotocols it asks for.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Mapping

from hardpoint.seams.authentication.contract import RefusedCredential

_SUBPROTOCOL = "base64url.bearer.authorization.k8s.io."


def token_of(headers: Mapping[str, str]) -> str:
    """The token, or "" if there is none. Raises RefusedCredential for one that cannot be read."""
    said = headers.get("authorization")
    if said is not None:
        token = from_authorization(said)
        if token:
            return token
    asked = headers.get("sec-websocket-protocol")
    if asked is not None and _SUBPROTOCOL in asked and headers.get("upgrade", "").lower() == "websocket":
        return _from_subprotocols(asked)
    return ""


def forget(headers: dict[str, str]) -> None:
    """Take the token away once it has done its work: nobody behind here needs it, and nobody can pass it on."""
    headers.pop("authorization", None)
    asked = headers.get("sec-websocket-protocol")
    if asked is not None and _SUBPROTOCOL in asked:
        others = [each.strip() for each in asked.split(",") if not each.strip().startswith(_SUBPROTOCOL)]
        headers["sec-websocket-protocol"] = ", ".join(others)


def from_authorization(said: str) -> str:
    """The token of an Authorization header; "" for other schemes, and for an empty token."""
    said = said.strip()
    return said[7:].partition(" ")[0] if said[:7].lower() == "bearer " else ""


def _from_subprotocols(asked: str) -> str:
    protocols = [protocol.strip() for protocol in asked.split(",")]
    encoded = [protocol.removeprefix(_SUBPROTOCOL) for protocol in protocols if protocol.startswith(_SUBPROTOCOL)]
    if len(encoded) > 1:
        raise RefusedCredential("multiple base64.bearer.authorization tokens specified")
    try:
        token = b64decode(encoded[0] + "=" * (-len(encoded[0]) % 4), altchars="-_", validate=True).decode()
    except ValueError as wrong:
        raise RefusedCredential("invalid base64.bearer.authorization token encoding") from wrong
    if token and len(protocols) == 1:
        # The one with the token is never answered with, so there must be another that can be.
        raise RefusedCredential("missing additional subprotocol")
    return token
