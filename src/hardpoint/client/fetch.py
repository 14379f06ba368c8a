"""One GET of one JSON document from an HTTPS address: how a cluster reads what somebody else publishes.

The server is a stranger: its certificate is verified, its answer has a bound in time and in size, it is not compressed,
and no redirect is followed. What it sent is in no error: who can make us ask an address of their choice must not learn
what answers there.
"""

from __future__ import annotations

import asyncio
from typing import Any
from urllib.parse import urlsplit

from hardpoint.client.endpoint import Endpoint
from hardpoint.client.http import HttpTransport
from hardpoint.client.transport import BadAnswer, Stream, TimedOut
from hardpoint.machinery import jsontext
from hardpoint.machinery.errors import ConfigError

Json = dict[str, Any]

DOCUMENT_BYTES_MAX = 1024 * 1024
PATIENCE_SECONDS = 30.0


async def get_json(
    url: str,
    *,
    ca_pem: bytes | None = None,
    patience_seconds: float = PATIENCE_SECONDS,
    bytes_max: int = DOCUMENT_BYTES_MAX,
) -> Json:
    """The JSON object at an https address; without `ca_pem` its server is trusted as the machine trusts.

    Raises TransportError, and ConfigError for what is no such address.
    """
    endpoint, query = _endpoint(url, ca_pem)
    where = endpoint.url
    transport = HttpTransport(endpoint, patience_seconds=patience_seconds, connect_seconds=patience_seconds)
    asking = transport.stream("GET", "", query, {"accept": "application/json"})
    try:
        async with asyncio.timeout(patience_seconds), transport, asking as answer:
            content = await _content(answer, where, bytes_max)
    except TimeoutError as cause:
        raise TimedOut(where, f"no complete answer within {patience_seconds:g} s") from cause
    try:
        found = jsontext.parse(content).value
    except jsontext.BadJson:
        raise BadAnswer(where, "the answer is not JSON") from None
    if not isinstance(found, dict):
        raise BadAnswer(where, "the answer is JSON, but not an object")
    return found


def _endpoint(url: str, ca_pem: bytes | None) -> tuple[Endpoint, str]:
    try:
        parts = urlsplit(url)
        port = parts.port or 443
    except ValueError as cause:
        raise ConfigError(f"{url!r} is no URL: {cause}") from cause
    if parts.scheme != "https" or not parts.hostname or parts.username or not url.isascii() or not url.isprintable():
        raise ConfigError(f"{url!r} must be https://HOST[:PORT]/PATH")
    return Endpoint("https", parts.hostname, port, parts.path or "/", ca_pem=ca_pem, compress=False), parts.query


async def _content(answer: Stream, where: str, bytes_max: int) -> bytes:
    if answer.status != 200:
        redirects = "; redirects are not followed" if 300 <= answer.status < 400 else ""
        raise BadAnswer(where, f"it answered {answer.status}{redirects}")
    if answer.headers.get("content-encoding", "identity") != "identity":
        raise BadAnswer(where, "it compressed its answer, which nobody asked for")
    content = bytearray()
    async for chunk in answer.chunks:
        content += chunk
        if len(content) > bytes_max:
            raise BadAnswer(where, f"its answer has more than {bytes_max} bytes")
    return bytes(content)
