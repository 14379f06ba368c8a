"""The cluster's side of the authentication seam, against guests that answer, fail and lie."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Any

import orjson
import pytest

from hardpoint.machinery.messages import User
from hardpoint.seams.authentication.contract import Identified, RefusedCredential, Version
from hardpoint.seams.authentication.host import WebhookAuthenticator
from tests.client.scripted import Asked, Reply
from tests.seams.webhooks import AT_ONCE, answering, guest, holding

TOKEN = "s3cr3t-t0k3n"
JANE = User("jane", ("dev", "ops"), "42", {"team": ("a", "b")})
JANE_INFO = {"username": "jane", "uid": "42", "groups": ["dev", "ops"], "extra": {"team": ["a", "b"]}}


def said(version: str = "v1", kind: str = "TokenReview", **status: Any) -> dict[str, Any]:
    return {"apiVersion": f"authentication.k8s.io/{version}", "kind": kind, "status": status}


YES = said(authenticated=True, user=JANE_INFO)


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
async def test_whose_token_it_is(tmp_path: Path, version: Version) -> None:
    yes = said(version, authenticated=True, user=JANE_INFO)
    async with guest(answering(yes), tmp_path) as (server, webhook):
        assert await WebhookAuthenticator(webhook, version=version).identify(TOKEN, ()) == Identified(JANE)
    asked = orjson.loads(server.asked[0].body)
    assert asked == {
        "apiVersion": f"authentication.k8s.io/{version}",
        "kind": "TokenReview",
        "spec": {"token": TOKEN},
    }


@pytest.mark.parametrize(
    ("asked", "status", "implicit", "found"),
    [
        pytest.param(["api"], ["api"], ["other"], ("api",), id="the guest says so"),
        pytest.param(["api", "db"], ["db", "x"], [], ("db",), id="only those asked for count"),
        pytest.param(["api"], [], ["api"], ("api",), id="the guest knows of none, the cluster's own"),
        pytest.param(["db"], [], ["api"], None, id="the guest knows of none, another's"),
        pytest.param(["db"], ["api"], ["db"], None, id="good for somebody else"),
        pytest.param([], ["api"], [], (), id="none asked for"),
    ],
)
async def test_audiences(
    tmp_path: Path, asked: list[str], status: list[str], implicit: list[str], found: tuple[str, ...] | None
) -> None:
    answer = said(authenticated=True, user=JANE_INFO, audiences=status)
    async with guest(answering(answer), tmp_path) as (server, webhook):
        identified = await WebhookAuthenticator(webhook, implicit_audiences=implicit).identify(TOKEN, asked)
    assert orjson.loads(server.asked[0].body)["spec"].get("audiences", []) == asked
    assert identified == (None if found is None else Identified(JANE, found))


async def test_a_token_nobody_knows(tmp_path: Path) -> None:
    async with guest(answering(said(authenticated=False)), tmp_path) as (server, webhook):
        authenticator = WebhookAuthenticator(webhook)
        assert await authenticator.identify(TOKEN, ()) is None
        assert await authenticator.identify(TOKEN, ()) is None
    assert len(server.asked) == 1


async def test_answers_are_kept_for_two_minutes_each_token_and_audience_its_own(tmp_path: Path) -> None:
    now = 0.0
    async with guest(answering(YES), tmp_path) as (server, webhook):
        authenticator = WebhookAuthenticator(webhook, implicit_audiences=["a"], now=lambda: now)
        for token, audiences in ((TOKEN, ()), (TOKEN, ("a",)), ("other", ()), (TOKEN, ())):
            await authenticator.identify(token, audiences)
        assert len(server.asked) == 3
        now = 119.9
        await authenticator.identify(TOKEN, ())
        assert len(server.asked) == 3
        now = 120.0
        await authenticator.identify(TOKEN, ())
        assert len(server.asked) == 4


async def test_one_question_for_all_who_ask_at_once_even_if_the_first_leaves(tmp_path: Path) -> None:
    may_answer = asyncio.Event()
    async with guest(holding(may_answer, YES), tmp_path) as (server, webhook):
        authenticator = WebhookAuthenticator(webhook)
        asking = [asyncio.create_task(authenticator.identify(TOKEN, ())) for _ in range(10)]
        async with server.changed:
            await server.changed.wait_for(lambda: server.connections == 1)
        asking[0].cancel()
        may_answer.set()
        assert await asyncio.gather(*asking[1:]) == [Identified(JANE)] * 9
    assert len(server.asked) == 1


async def test_a_busy_guest_is_asked_again(tmp_path: Path) -> None:
    async with guest(answering(500, 429, 504, YES), tmp_path) as (server, webhook):
        assert await WebhookAuthenticator(webhook, waits=AT_ONCE).identify(TOKEN, ()) == Identified(JANE)
    assert len(server.asked) == 4


async def test_five_times_and_no_more_and_the_failure_is_not_remembered(tmp_path: Path) -> None:
    async with guest(answering(500, 500, 500, 500, 500, YES), tmp_path) as (server, webhook):
        authenticator = WebhookAuthenticator(webhook, waits=AT_ONCE)
        with pytest.raises(RefusedCredential, match="answered 500"):
            await authenticator.identify(TOKEN, ())
        assert len(server.asked) == 5
        assert await authenticator.identify(TOKEN, ()) == Identified(JANE)


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(said(kind="SubjectAccessReview", authenticated=True, user=JANE_INFO), id="another kind"),
        pytest.param(said("v1beta1", authenticated=True, user=JANE_INFO), id="another version"),
        pytest.param(said("v2", authenticated=True, user=JANE_INFO), id="a version nobody knows"),
        pytest.param({"status": {"authenticated": True, "user": JANE_INFO}}, id="no kind at all"),
        pytest.param(said(authenticated="yes", user=JANE_INFO), id="authenticated is text"),
        pytest.param(said(authenticated=1, user=JANE_INFO), id="authenticated is a number"),
        pytest.param(said(authenticated=True), id="nobody in particular"),
        pytest.param(said(authenticated=True, user={"username": ""}), id="a user without a name"),
        pytest.param(said(authenticated=True, user="jane"), id="user is text"),
        pytest.param(said(authenticated=True, user={"username": ["jane"]}), id="username is a list"),
        pytest.param(said(authenticated=True, user={"username": "j", "groups": "dev"}), id="groups is text"),
        pytest.param(said(authenticated=True, user={"username": "j", "extra": {"a": "b"}}), id="extra is text"),
        pytest.param({**YES, "status": []}, id="status is a list"),
        pytest.param(302, id="a redirect"),
        pytest.param(404, id="not there"),
    ],
)
async def test_an_answer_that_breaks_the_contract_lets_nobody_in(
    tmp_path: Path, answer: dict[str, Any] | int, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with guest(answering(answer), tmp_path) as (_, webhook):
        with pytest.raises(RefusedCredential) as refused:
            await WebhookAuthenticator(webhook).identify(TOKEN, ())
    assert TOKEN not in caplog.text
    assert TOKEN not in str(refused.value)


async def test_a_guest_that_repeats_the_token_does_not_get_it_into_our_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)

    async def parrot(asked: Asked, reply: Reply) -> None:
        await reply.answer(orjson.dumps(said(authenticated=False, error=f"bad token {TOKEN}")))

    async with guest(parrot, tmp_path) as (_, webhook):
        with pytest.raises(RefusedCredential, match="are not shown") as refused:
            await WebhookAuthenticator(webhook).identify(TOKEN, ())
    assert TOKEN not in caplog.text + str(refused.value)
