"""Does a guest keep the promises of the authentication seam? Asked over HTTPS, so of a guest in any language.

With a good token among the caller's `settings` the promises about good tokens are looked at, too.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence

import orjson

from hardpoint.machinery.reviews import BadReview
from hardpoint.runtime.promises import Broken, NotAsked, Promises, expect
from hardpoint.runtime.webhookpromises import Caller, Json, every_review, every_webhook
from hardpoint.seams.authentication.contract import (
    VERSIONS,
    TokenReviewSpec,
    TokenReviewStatus,
    Version,
    review,
    verdict,
)

SAMPLE: Json = dict(review("v1", spec={"token": "hardpoint-check-of-a-token-that-nobody-has"}))

promises: Promises[Caller] = Promises()


async def _status(
    guest: Caller, token: str, *, version: Version = "v1", audiences: Sequence[str] = ()
) -> TokenReviewStatus:
    spec: TokenReviewSpec = {"token": token}
    if audiences:
        spec["audiences"] = list(audiences)
    answer = await guest.ask(review(version, spec=spec))
    try:
        return verdict(answer, version)
    except BadReview as wrong:
        raise Broken(f"answered no TokenReview: {wrong}") from wrong


def _good_token(guest: Caller) -> str:
    token = guest.settings.get("token")
    if not token:
        raise NotAsked("give a good token with --token-file")
    return token


@promises("a token nobody knows is not authenticated")
async def _unknown(guest: Caller) -> None:
    for token in (secrets.token_urlsafe(32), "a.b.c", "system:admin", "null", "x" * 8192):
        status = await _status(guest, token)
        expect(not status.get("authenticated"), "authenticated a token that was made up")
        expect(not status.get("user"), "named a user for a token that was made up")


@promises("an empty token is not authenticated")
async def _empty(guest: Caller) -> None:
    answer = await guest.send(orjson.dumps(review("v1", spec={"token": ""})))
    if 400 <= answer.status < 500:
        return
    status = await _status(guest, "")
    expect(not status.get("authenticated"), "authenticated the empty token")


@promises("a review is answered in the version it was asked in")
async def _versions(guest: Caller) -> None:
    for version in VERSIONS:
        await _status(guest, secrets.token_urlsafe(16), version=version)  # type: ignore[arg-type]  # one of them


@promises("a review without a token is refused")
async def _no_token(guest: Caller) -> None:
    for spec in (None, {}, {"token": None}, {"token": 7}, {"token": ["a"]}, "token"):
        await guest.expect_refusal(orjson.dumps({**SAMPLE, "spec": spec}), what=f"spec {spec!r}")


@promises("a token is in no status and no refusal")
async def _no_echo(guest: Caller) -> None:
    canary = f"canary-{secrets.token_hex(16)}"
    answer = await guest.ask(review("v1", spec={"token": canary}))
    expect(canary not in orjson.dumps(answer.get("status")).decode(), "repeated the token in its status")
    wrong = await guest.send(orjson.dumps({**SAMPLE, "kind": "Pod", "spec": {"token": canary}}))
    told = wrong.body + repr(dict(wrong.headers)).encode()
    expect(wrong.status < 300 or canary.encode() not in told, "repeated the token in a refusal")


@promises("a good token is told whose it is, every time")
async def _good(guest: Caller) -> None:
    token = _good_token(guest)
    first, second = await _status(guest, token), await _status(guest, token)
    expect(bool(first.get("authenticated")), "did not authenticate the token that was given as good")
    expect(bool(first.get("user", {}).get("username")), "authenticated a user without a name")
    expect(first == second, "answered two reviews of one token in two ways")


@promises("what only resembles a good token is not authenticated")
async def _resembling(guest: Caller) -> None:
    token = _good_token(guest)
    for other in (
        token[:-1],
        f"{token}x",
        f" {token}",
        f"{token}\n",
        token.swapcase(),
        f"{token}\x00",
        f"Bearer {token}",
    ):
        if other == token:
            continue
        status = await _status(guest, other)
        expect(not status.get("authenticated"), "authenticated something that is not quite the good token")


@promises("a token is good for none but the audiences that were asked for")
async def _audiences(guest: Caller) -> None:
    token = _good_token(guest)
    asked = [f"audience-{secrets.token_hex(8)}"]
    status = await _status(guest, token, audiences=asked)
    named = status.get("audiences") or []
    expect(set(named) <= set(asked), "named an audience that was not asked for")


promises.include(every_review)
promises.include(every_webhook)
