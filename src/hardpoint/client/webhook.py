"""One POST to one HTTPS address: how a cluster asks a guest that serves a webhook.

Where the guest is comes from a kubeconfig-format file, as kube-apiserver's webhook flags take it (its cluster is the
guest, its user is how we prove who we are), or from an address. A guest is a stranger: its certificate is verified,
its answer has a bound in time and size and is a JSON object, and no redirect is followed. What it sent is in no error:
who could make us ask an address of their choice must not learn what answers there.

What an answer means, how long it may be kept and whether a question is asked again is for each seam's host to say.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from random import random
from typing import Any, Self
from urllib.parse import urlsplit

import orjson

from hardpoint.client.credentials import ANONYMOUS, CredentialPlugins, Credentials
from hardpoint.client.endpoint import Endpoint, from_kubeconfig
from hardpoint.client.http import HttpTransport
from hardpoint.client.kubeconfig import load
from hardpoint.client.transport import BadAnswer, Interrupted, Stream, TimedOut, TransportError
from hardpoint.machinery.errors import ConfigError, ContractBroken, GuestError, Unavailable

Json = dict[str, Any]

ANSWER_BYTES_MAX = 3 * 1024 * 1024
CALLS_MAX = 256
"""So many questions are under way at once; the others wait for their turn within their own time."""
TRANSIENT = frozenset((408, 425, 429))
"""Refusals that may be gone the next time, besides every 5xx."""
TRANSIENT_SOON = frozenset((429, 500, 504))
"""Those that kube-apiserver asks again a moment later, even if it was not told to."""
_HEADERS = {"accept": "application/json", "content-type": "application/json"}


class Busy(Unavailable):
    """It answered that asking again in a moment is worth it."""


class Answered(Exception):
    """The status of an answer that was no yes: the cause of the error that tells of it."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


@dataclass(frozen=True, slots=True)
class Waits:
    """The waits between questions that are asked again; kube-apiserver's for its webhooks."""

    first_seconds: float = 0.5
    factor: float = 1.5
    jitter: float = 0.2
    attempts_max: int = 5

    def seconds(self) -> Iterator[float]:
        """The wait after each attempt but the last."""
        for attempt in range(self.attempts_max - 1):
            # Spreads those who wait; nothing depends on it being hard to guess.
            yield self.first_seconds * self.factor**attempt * (1.0 + self.jitter * random())  # noqa: S311


USUAL_WAITS = Waits()


class Webhook:
    """A guest behind an address. Calls overlap; connections are kept for the next call."""

    def __init__(
        self,
        seam: str,
        endpoint: Endpoint,
        *,
        name: str = "",
        answer_bytes_max: int = ANSWER_BYTES_MAX,
        user_agent: str = "hardpoint",
    ) -> None:
        """`seam` and `name`, by default the address, are what errors call it. Raises ConfigError for plain HTTP."""
        if endpoint.scheme != "https":
            raise ConfigError(f"{endpoint.url} cannot be a webhook: its address must start with https://")
        self.seam = seam
        self.name = name or endpoint.url
        self._answer_bytes_max = answer_bytes_max
        self._transport = HttpTransport(replace(endpoint, compress=False), user_agent=user_agent)
        self._path = "" if endpoint.prefix else "/"
        self._turns = asyncio.Semaphore(CALLS_MAX)

    @classmethod
    def from_kubeconfig(
        cls, seam: str, file: Path, *, name: str = "", context: str = "", plugins: CredentialPlugins | None = None
    ) -> Self:
        """The guest that a kubeconfig-format file describes. Raises ConfigError; nothing is asked yet."""
        return cls(seam, from_kubeconfig(load(file), context, plugins=plugins), name=name)

    @classmethod
    def at(
        cls,
        seam: str,
        url: str,
        *,
        ca_pem: bytes | None = None,
        tls_server_name: str = "",
        credentials: Credentials = ANONYMOUS,
        name: str = "",
    ) -> Self:
        """The guest at an address; without `ca_pem` it is trusted as the machine trusts. Raises ConfigError."""
        endpoint = endpoint_at(url, ca_pem=ca_pem, tls_server_name=tls_server_name, credentials=credentials)
        return cls(seam, endpoint, name=name)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        await self._transport.close()

    async def post(
        self, obj: Mapping[str, Any] | bytes, *, patience_seconds: float, answer_bytes_max: int | None = None
    ) -> Json:
        """Ask, and return the object it answers with, whole and within its time. Bytes are JSON already.

        With `answer_bytes_max` this answer may be no larger, whatever others may be.

        A question whose connection is cut is asked once more, so the guest may see it twice. Raises Unavailable if
        asking again later may help, ContractBroken if it answered with what no webhook may answer.
        """
        return self._object(await self._exchange(obj, patience_seconds, answer_bytes_max))

    async def post_again(
        self, obj: Mapping[str, Any] | bytes, *, patience_seconds: float, waits: Waits = USUAL_WAITS
    ) -> Json:
        """Like `post`, but a guest that is Busy is asked again after a while, as often as `waits` says."""
        for wait_seconds in waits.seconds():
            try:
                return await self.post(obj, patience_seconds=patience_seconds)
            except Busy:
                await asyncio.sleep(wait_seconds)
        return await self.post(obj, patience_seconds=patience_seconds)

    async def tell(self, obj: Mapping[str, Any] | bytes, *, patience_seconds: float) -> None:
        """Like `post`, for guests that only take: every answer with a status of 2xx is a yes, whatever is in it."""
        await self._exchange(obj, patience_seconds)

    async def _exchange(
        self, obj: Mapping[str, Any] | bytes, patience_seconds: float, answer_bytes_max: int | None = None
    ) -> bytes:
        body = obj if isinstance(obj, bytes) else orjson.dumps(obj)
        bytes_max = min(self._answer_bytes_max, answer_bytes_max or self._answer_bytes_max)
        try:
            async with asyncio.timeout(patience_seconds), self._turns:
                try:
                    return await self._attempt(body, patience_seconds, bytes_max)
                except Interrupted:
                    # Mostly a connection that it closed, having been idle, just as we used it.
                    return await self._attempt(body, patience_seconds, bytes_max)
        except (TimeoutError, TimedOut) as cause:
            raise Unavailable(self.seam, self.name, f"gave no complete answer in {patience_seconds:g} s") from cause
        except BadAnswer as cause:
            raise ContractBroken(self.seam, self.name, f"did not answer in HTTP: {_why(cause)}") from cause
        except TransportError as cause:
            raise Unavailable(self.seam, self.name, f"cannot be reached: {_why(cause)}") from cause

    async def _attempt(self, body: bytes, patience_seconds: float, bytes_max: int) -> bytes:
        asked = self._transport.stream("POST", self._path, f"timeout={patience_seconds:g}s", _HEADERS, body)
        async with asked as answer:
            self._check(answer)
            return await self._whole(answer, bytes_max)

    def _check(self, answer: Stream) -> None:
        status = answer.status
        if status >= 300:
            raise self._refusal(answer) from Answered(status)
        if answer.headers.get("content-encoding", "identity") != "identity":
            raise ContractBroken(self.seam, self.name, "compressed its answer, which nobody asked for")

    def _refusal(self, answer: Stream) -> GuestError:
        status = answer.status
        if status in TRANSIENT_SOON or (status >= 500 and "retry-after" in answer.headers):
            return Busy(self.seam, self.name, f"answered {status}")
        if status in TRANSIENT or status >= 500:
            return Unavailable(self.seam, self.name, f"answered {status}")
        if status < 400:
            return ContractBroken(self.seam, self.name, f"answered {status}; redirects are not followed")
        return ContractBroken(self.seam, self.name, f"answered {status}")

    async def _whole(self, answer: Stream, bytes_max: int) -> bytes:
        content = bytearray()
        async for chunk in answer.chunks:
            content += chunk
            if len(content) > bytes_max:
                raise ContractBroken(self.seam, self.name, f"answered more than {bytes_max} bytes")
        return bytes(content)

    def _object(self, content: bytes) -> Json:
        try:
            found = orjson.loads(content)
        except orjson.JSONDecodeError:
            # The decoder's error shows the text it stumbled over.
            raise ContractBroken(self.seam, self.name, "answered something that is not JSON") from None
        if not isinstance(found, dict):
            raise ContractBroken(self.seam, self.name, "answered JSON that is not an object")
        return found


def endpoint_at(
    url: str, *, ca_pem: bytes | None = None, tls_server_name: str = "", credentials: Credentials = ANONYMOUS
) -> Endpoint:
    """The endpoint of an address as webhooks have them. Raises ConfigError for any other."""
    try:
        parts = urlsplit(url)
        port = parts.port or 443
    except ValueError as cause:
        raise ConfigError(f"{url!r} is no URL: {cause}") from cause
    if parts.scheme != "https" or not parts.hostname or parts.username or parts.query or parts.fragment:
        raise ConfigError(f"{url!r} must be https://HOST[:PORT][/PATH], without user, query or fragment")
    return Endpoint(
        parts.scheme,
        parts.hostname,
        port,
        parts.path.rstrip("/"),
        ca_pem=ca_pem,
        tls_server_name=tls_server_name,
        credentials=credentials,
    )


def _why(cause: TransportError) -> str:
    """What happened, without the address, which the guest's name tells already."""
    return str(cause).removeprefix(f"{cause.where}: ")
