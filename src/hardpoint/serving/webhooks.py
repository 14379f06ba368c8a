"""A webhook server's paths: each takes a JSON object by POST and answers with one.

What is the same for every webhook is here: what is refused before a guest is asked (method, type, size, JSON), how many
are asked at once, how long one may take, and what a failure looks like from outside: a Status without a word of what
went wrong inside. What a review means is each seam's knowledge. Beside the guests' paths there are `/livez`, `/readyz`
and `/healthz`, and `/metrics`.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterable
from typing import Any, Protocol
from urllib.parse import parse_qs

import orjson

from hardpoint.machinery import durations, errors
from hardpoint.machinery.durations import BadDuration
from hardpoint.machinery.errors import ApiError, HardpointError
from hardpoint.machinery.exposition import CONTENT_TYPE
from hardpoint.machinery.messages import Request, Response
from hardpoint.serving.webhookmetrics import WebhookMetrics
from hardpoint.serving.writing import status_response

Json = dict[str, Any]

log = logging.getLogger(__name__)

BODY_BYTES_MAX = 3 * 1024 * 1024
CALLS_MAX = 200
PATIENCE_SECONDS_MAX = 30.0
HEALTH = frozenset(("/livez", "/readyz", "/healthz"))


class Guest(Protocol):
    """Answers at one path. Calls overlap, and any may be repeated."""

    @property
    def path(self) -> str: ...

    @property
    def body_bytes_max(self) -> int: ...

    async def answer(self, review: Json) -> Json:
        """The answer to one object. Raises ApiError for a refusal; any other error is a 500 and says nothing."""
        ...


class Webhooks:
    """Hands requests to the guests. `replace` changes them under way."""

    def __init__(
        self,
        guests: Iterable[Guest],
        *,
        calls_max: int = CALLS_MAX,
        patience_seconds_max: float = PATIENCE_SECONDS_MAX,
    ) -> None:
        self.metrics = WebhookMetrics()
        self._calls_max = calls_max
        self._patience_seconds_max = patience_seconds_max
        self.replace(guests)

    def replace(self, guests: Iterable[Guest]) -> None:
        """From now on these answer. What is being answered goes on."""
        self._guests = {guest.path: guest for guest in guests}

    async def handle(self, request: Request) -> Response:
        """The answer to any request. It never raises."""
        started = time.monotonic()
        response = await self._respond(request)
        known = request.path in self._guests or request.path in HEALTH
        self.metrics.observe(request.path if known else "", response.status, time.monotonic() - started)
        return response

    async def _respond(self, request: Request) -> Response:
        guest = self._guests.get(request.path)
        try:
            if guest is None:
                return self._about_itself(request)
            review = _review(request, guest.body_bytes_max)
            if self.metrics.in_flight >= self._calls_max:
                raise errors.too_many_requests("too many reviews at once, please try again later")
            with self.metrics.counted():
                async with asyncio.timeout(self._patience_seconds(request)):
                    return Response(200, orjson.dumps(await guest.answer(review)))
        except ApiError as refused:
            return _refused(refused)
        except TimeoutError:
            log.warning("review not answered in time", extra={"path": request.path})
            return _refused(errors.timeout("the review was not answered in time"))
        except HardpointError:
            # Whoever raised it has logged it, where the line at fault was known.
            return _refused(errors.internal_error("the guest failed"))
        except Exception:
            log.exception("review failed", extra={"path": request.path})
            return _refused(errors.internal_error("the guest failed"))

    def _about_itself(self, request: Request) -> Response:
        if request.method in ("GET", "HEAD") and request.path in HEALTH:
            return Response(200, b"ok", "text/plain; charset=utf-8")
        if request.method in ("GET", "HEAD") and request.path == "/metrics":
            return Response(200, self.metrics.render(), CONTENT_TYPE)
        raise errors.no_such_path()

    def _patience_seconds(self, request: Request) -> float:
        """What whoever asks says it will wait, as kube-apiserver does, but never longer than we allow."""
        asked = parse_qs(request.query).get("timeout", [""])[0]
        try:
            seconds = durations.parse(asked) / 1e9
        except BadDuration:
            return self._patience_seconds_max
        return min(seconds, self._patience_seconds_max) if seconds > 0 else self._patience_seconds_max


def _review(request: Request, body_bytes_max: int) -> Json:
    if request.method != "POST":
        raise errors.method_not_allowed()
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json" or request.headers.get("content-encoding", "identity") != "identity":
        raise errors.unsupported_media_type(["application/json"])
    if len(request.body) > body_bytes_max:
        raise errors.too_large(body_bytes_max)
    try:
        review = orjson.loads(request.body)
    except orjson.JSONDecodeError:
        # The decoder's words would show what came, and reviews hold secrets.
        raise errors.bad_request("the body is not JSON") from None
    if not isinstance(review, dict):
        raise errors.bad_request("the body is not a JSON object")
    return review


def _refused(error: ApiError) -> Response:
    response = status_response(error)
    if error.retry_after_seconds:
        response.headers = (("Retry-After", str(error.retry_after_seconds)),)
    return response
