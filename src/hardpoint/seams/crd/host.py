"""The cluster's side: have a webhook convert objects, and say in kube-apiserver's words why it could not.

What is sent and what an answer must be is the `contract`'s knowledge, where the webhook is that of whoever makes one of
these. Nothing is asked twice and nothing is remembered: a conversion is part of a request, and that may be repeated.
"""

from __future__ import annotations

import ssl
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any, Literal, NamedTuple, Protocol
from uuid import uuid4

import orjson

from hardpoint.client.webhook import Answered, Webhook
from hardpoint.machinery.errors import ConfigError, ContractBroken, GuestError
from hardpoint.machinery.jsontext import encode
from hardpoint.seams.crd.contract import (
    BadAnswer,
    ConversionFailed,
    Converter,
    Failure,
    asked,
    converted,
    told_as,
    version_among,
)

Json = dict[str, Any]

SEAM = "crd"
PATIENCE_SECONDS = 30.0
OBJECTS_MAX = 200
"""So many objects are asked about at once: more would keep the loop busy for too long at a time."""
ANSWER_BYTES_MIN, ANSWER_FACTOR = 1024 * 1024, 4
"""What comes back is about as large as what was sent; more would cost us the more, the more ask at once."""
BYTES_MAX = 1024 * 1024
"""So large a question may be, unless it is about one object; a webhook may refuse more than 3 MiB."""

_STATUSES = {
    401: "the server has asked for the client to provide credentials",
    404: "the server could not find the requested resource",
    405: "the server does not allow this method on the requested resource",
    429: "the server has received too many requests and has asked us to try again later",
    500: 'an error on the server ("unknown") has prevented the request from succeeding',
    503: "the server is currently unable to handle the request",
    504: "the server was unable to return a response in the time allotted, but may still be processing the request",
}
_UNTRUSTED = (18, 19, 20, 21)
"""OpenSSL's numbers for a certificate that nobody we trust has signed."""


class _Batch(NamedTuple):
    """Objects that are asked about at once, and each of them as it is sent."""

    objects: list[Json]
    written: list[orjson.Fragment]


class Observer(Protocol):
    """Is told of every question that was asked."""

    def __call__(self, source: str, target: str, failure: Failure | Literal[""], seconds: float) -> None:
        """From one version to another it took so long and, unless there is no failure, came to nothing."""
        ...


class WebhookConverter:
    """Converts as a webhook does. `reach` finds it, and raises ConfigError if there is nothing to be found."""

    def __init__(
        self,
        url: str,
        reach: Callable[[], Awaitable[Webhook]],
        review_versions: Sequence[str],
        *,
        observe: Observer | None = None,
        patience_seconds: float = PATIENCE_SECONDS,
    ) -> None:
        """`url` is what errors call it."""
        self._url = f"{url}?timeout={patience_seconds:g}s"
        self._reach = reach
        self._review_versions = review_versions
        self._observe = observe
        self._patience_seconds = patience_seconds

    async def convert(self, objects: Sequence[Json], api_version: str) -> list[Json]:
        """The same objects in that version, a few at a time. Raises ConversionFailed."""
        found: list[Json] = []
        for batch in _batches(objects):
            found += await self._converted(batch, api_version)
        return found

    async def _converted(self, batch: _Batch, api_version: str) -> list[Json]:
        objects = batch.objects
        started = time.perf_counter()
        failure: Failure | Literal[""] = "call"
        try:
            found = await self._ask(batch, api_version)
            failure = ""
        except BadAnswer as wrong:
            failure = wrong.failure
            raise ConversionFailed(f"conversion webhook for {told_as(objects[0])} {wrong}") from wrong
        finally:
            if self._observe is not None:
                source = str(objects[0].get("apiVersion")).rpartition("/")[2]
                target = api_version.rpartition("/")[2]
                self._observe(source, target, failure, time.perf_counter() - started)
        return found

    async def _ask(self, batch: _Batch, api_version: str) -> list[Json]:
        version, uid = version_among(self._review_versions), str(uuid4())
        review = orjson.dumps(asked(version, uid, batch.written, api_version))
        try:
            webhook = await self._reach()
            answer = await webhook.post(
                review,
                patience_seconds=self._patience_seconds,
                answer_bytes_max=ANSWER_BYTES_MIN + ANSWER_FACTOR * len(review),
            )
        except (GuestError, ConfigError) as cause:
            raise BadAnswer(f"failed: {self._why(cause)}", "call") from cause
        return converted(answer, version, uid, batch.objects, api_version)

    def _why(self, failed: GuestError | ConfigError) -> str:
        """What Go's client says where it has words for it."""
        for cause in _causes(failed):
            if isinstance(cause, Answered):
                unknown = (
                    f"the server responded with the status code {cause.status} but did not return more information"
                )
                return _STATUSES.get(cause.status, unknown)
        if isinstance(failed, ContractBroken):
            return f"it {_told(failed)}"
        return f'Post "{self._url}": {_broken(failed)}'


def _broken(failed: GuestError | ConfigError) -> str:
    """Why no answer came, as Go's network packages tell it."""
    for cause in _causes(failed):
        if isinstance(cause, ssl.SSLCertVerificationError):
            why = cause.verify_message
            if cause.verify_code in _UNTRUSTED:
                why = "certificate signed by unknown authority"
            return f"tls: failed to verify certificate: x509: {why}"
        if isinstance(cause, ConnectionRefusedError):
            return f"dial tcp {_address(failed)}: connect: connection refused"
        if isinstance(cause, TimeoutError):
            return "context deadline exceeded (Client.Timeout exceeded while awaiting headers)"
    return _told(failed) if isinstance(failed, GuestError) else str(failed)


def _told(failed: GuestError) -> str:
    """What a guest did, without its name."""
    return str(failed).removeprefix(f"{failed.seam} guest {failed.guest!r} ")


def _address(failed: GuestError | ConfigError) -> str:
    """HOST:PORT of whom we could not reach."""
    name = failed.guest if isinstance(failed, GuestError) else ""
    return name.removeprefix("https://").partition("/")[0]


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """An error and what led to it, the outermost first."""
    while error is not None:
        yield error
        error = error.__cause__


def _batches(objects: Sequence[Json]) -> Iterator[_Batch]:
    """The objects in parts that may be asked about at once: of one version each, neither too many nor too large."""
    batch = _Batch([], [])
    size = 0
    for obj in objects:
        written = encode(obj)
        is_full = len(batch.objects) == OBJECTS_MAX or size + len(written) > BYTES_MAX
        if batch.objects and (is_full or batch.objects[0].get("apiVersion") != obj.get("apiVersion")):
            yield batch
            batch, size = _Batch([], []), 0
        batch.objects.append(obj)
        batch.written.append(orjson.Fragment(written))
        size += len(written)
    if batch.objects:
        yield batch


_conforms: type[Converter] = WebhookConverter
