"""The cluster's side: ask a webhook whose token it is, remember the answer for a while, survive what it does.

A token that is being asked about is not asked about twice at once. Tokens are remembered by a keyed digest, never as
they are. A guest that fails refuses its token: what it knows nobody else may know, but the next kind of token is tried.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import secrets
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from hardpoint.client.webhook import USUAL_WAITS, Waits, Webhook
from hardpoint.machinery.errors import GuestError
from hardpoint.machinery.expiring import Expiring
from hardpoint.machinery.reviews import BadReview
from hardpoint.seams.authentication.contract import (
    Identified,
    RefusedCredential,
    TokenAuthenticator,
    TokenReviewSpec,
    TokenReviewStatus,
    Version,
    review,
    user_of,
    verdict,
)

log = logging.getLogger(__name__)

CACHE_SECONDS = 120.0
PATIENCE_SECONDS = 30.0
REMEMBERED_MAX = 32_768
SHOWN_CHARACTERS_MAX = 256


class _Known(NamedTuple):
    """What the guest said of a token: whose it is, or that it knows nobody by it."""

    identified: Identified | None


class WebhookAuthenticator:
    """Knows the tokens that a webhook knows. `close` it in the end."""

    def __init__(
        self,
        webhook: Webhook,
        *,
        version: Version = "v1",
        implicit_audiences: Sequence[str] = (),
        cache_seconds: float = CACHE_SECONDS,
        patience_seconds: float = PATIENCE_SECONDS,
        waits: Waits = USUAL_WAITS,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """`implicit_audiences` are the cluster's own: what a token is good for whose guest names no audiences."""
        self._webhook = webhook
        self._version = version
        self._implicit_audiences = tuple(implicit_audiences)
        self._cache_seconds = cache_seconds
        self._patience_seconds = patience_seconds
        self._waits = waits
        self._now = now
        self._digest_key = secrets.token_bytes(32)
        self._remembered: Expiring[bytes, _Known] = Expiring(REMEMBERED_MAX)
        self._asking: dict[bytes, asyncio.Task[_Known]] = {}

    async def close(self) -> None:
        for task in self._asking.values():
            task.cancel()
        await self._webhook.close()

    async def identify(self, token: str, audiences: Sequence[str]) -> Identified | None:
        key = self._digest(token, audiences)
        known = self._remembered.get(key, self._now()) or await self._ask_once(key, token, audiences)
        return known.identified

    def _digest(self, token: str, audiences: Sequence[str]) -> bytes:
        # The length in front keeps a token from passing for the end of an audience.
        text = "\0".join((str(len(token)), token, *audiences))
        return hmac.digest(self._digest_key, text.encode("utf-8", "surrogatepass"), "sha256")

    async def _ask_once(self, key: bytes, token: str, audiences: Sequence[str]) -> _Known:
        """Whoever comes while the same is being asked waits for that answer; whoever leaves does not take it away."""
        task = self._asking.get(key)
        if task is None:
            task = asyncio.create_task(self._ask(key, token, audiences), name=f"token review by {self._webhook.name}")
            self._asking[key] = task
            task.add_done_callback(lambda done: self._asked(key, done))
        return await asyncio.shield(task)

    def _asked(self, key: bytes, task: asyncio.Task[_Known]) -> None:
        del self._asking[key]
        if not task.cancelled():
            task.exception()  # Looked at here, for all who waited may have left.

    async def _ask(self, key: bytes, token: str, audiences: Sequence[str]) -> _Known:
        spec: TokenReviewSpec = {"token": token}
        if audiences:
            spec["audiences"] = list(audiences)
        asked = review(self._version, spec=spec)
        try:
            answer = await self._webhook.post_again(asked, patience_seconds=self._patience_seconds, waits=self._waits)
            known = _Known(self._identified(verdict(answer, self._version), token, audiences))
        except (GuestError, BadReview) as cause:
            log.warning("token not reviewed", extra={"guest": self._webhook.name, "error": str(cause)})
            raise RefusedCredential(f"{self._webhook.name} did not review the token: {cause}") from cause
        self._remembered.put(key, known, until=self._now() + self._cache_seconds)
        return known

    def _identified(self, status: TokenReviewStatus, token: str, audiences: Sequence[str]) -> Identified | None:
        if not status.get("authenticated"):
            if status.get("error"):
                raise RefusedCredential(f"{self._webhook.name} says: {_shown(status['error'], token)}")
            return None
        good_for = status.get("audiences") or self._implicit_audiences
        common = tuple(audience for audience in audiences if audience in good_for)
        if audiences and not common:
            return None
        user = user_of(status)
        if not user.name:
            raise BadReview("status.user.username must not be empty for an authenticated user")
        return Identified(user, common)


def _shown(error: str, token: str) -> str:
    """A guest's words, as far as they can be shown: one line, not long, and without the token."""
    if token and token in error:
        return "(its words hold the token, and are not shown)"
    return "".join(char if char.isprintable() else " " for char in error[:SHOWN_CHARACTERS_MAX])


_conforms: type[TokenAuthenticator] = WebhookAuthenticator
