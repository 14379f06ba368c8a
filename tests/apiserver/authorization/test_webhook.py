"""Asking webhooks over real TLS: what is asked, what its answers mean, and those who hang, redirect, lie or pour."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import orjson
import pytest

from hardpoint.apiserver.authorization.configuration import Keeping
from hardpoint.apiserver.authorization.contract import Opinion, Question
from hardpoint.apiserver.authorization.webhook import ASKED_LENGTH_MAX, ENTRIES_MAX, WebhookAuthorizer
from hardpoint.apiserver.target import Target
from hardpoint.client.webhook import ANSWER_BYTES_MAX
from hardpoint.machinery.errors import Unavailable
from hardpoint.seams.authorization.contract import Allowed, Denied, NoOpinion, SubjectAccessReviewSpec, Verdict
from tests.apiserver.asking import Api
from tests.apiserver.authorization.webhooks import (
    JANE,
    RBAC,
    REVIEW,
    STRANGERS,
    TOKEN,
    configuration,
    hook,
    saying,
    served,
    webhook,
)
from tests.client.scripted import Asked, Reply, Script

CANARY = "c4n4ry-4nsw3r"
PODS = "/api/v1/namespaces/default/pods"


@asynccontextmanager
async def asking(script: Script, folder: Path, **more: Any) -> AsyncIterator[tuple[Api, list[Any]]]:
    """A server whose users are jane, whom only the webhook knows. Also all that the webhook was asked."""
    async with (
        webhook(script, folder / "hook") as (server, file),
        served(configuration(folder / "authorization.json", hook(file, **more), RBAC)) as api,
    ):
        yield api, server.asked


@pytest.mark.parametrize(
    ("url", "verb", "attributes"),
    [
        pytest.param("/api/v1/pods", "list", {"resource": "pods", "version": "v1"}, id="a collection"),
        pytest.param(
            "/apis/apps/v1/namespaces/n/deployments/d/scale",
            "get",
            {
                "namespace": "n",
                "group": "apps",
                "version": "v1",
                "resource": "deployments",
                "subresource": "scale",
                "name": "d",
            },
            id="a subresource",
        ),
        pytest.param(
            "/api/v1/pods?fieldSelector=spec.nodeName%3Dn1,status.phase!%3DFailed",
            "list",
            {
                "resource": "pods",
                "version": "v1",
                "fieldSelector": {
                    "requirements": [
                        {"key": "spec.nodeName", "operator": "In", "values": ["n1"]},
                        {"key": "status.phase", "operator": "NotIn", "values": ["Failed"]},
                    ]
                },
            },
            id="fields",
        ),
        pytest.param(
            "/api/v1/pods?labelSelector=a+in+(x),!b,c,d!%3De,f%3E1",
            "list",
            {
                "resource": "pods",
                "version": "v1",
                "labelSelector": {
                    "requirements": [
                        {"key": "a", "operator": "In", "values": ["x"]},
                        {"key": "b", "operator": "DoesNotExist"},
                        {"key": "c", "operator": "Exists"},
                        {"key": "d", "operator": "NotIn", "values": ["e"]},
                    ]
                },
            },
            id="labels, of which f>1 cannot be told",
        ),
        pytest.param("/api/v1/pods?labelSelector=((", "list", {"resource": "pods", "version": "v1"}, id="nonsense"),
    ],
)
async def test_what_is_asked_about_a_resource(tmp_path: Path, url: str, verb: str, attributes: dict[str, Any]) -> None:
    async with asking(saying(allowed=True), tmp_path) as (api, asked):
        await api.send("GET", url)
    review = orjson.loads(asked[0].body)
    assert review == {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "spec": {
            "resourceAttributes": {"verb": verb, **attributes},
            "user": "jane",
            "groups": ["devs", "system:authenticated"],
            "extra": {"example.com/team": ["a", "b"]},
            "uid": "7",
        },
    }


async def test_what_is_asked_about_a_path(tmp_path: Path) -> None:
    async with asking(saying(allowed=True), tmp_path, subjectAccessReviewVersion="v1beta1") as (api, asked):
        await api.send("GET", "/metrics")
    review = orjson.loads(asked[0].body)
    assert review["apiVersion"] == "authorization.k8s.io/v1beta1"
    assert review["spec"]["nonResourceAttributes"] == {"path": "/metrics", "verb": "get"}
    assert review["spec"]["group"] == ["devs", "system:authenticated"], "v1beta1 calls them so"


@pytest.mark.parametrize(
    ("status", "code", "reason"),
    [
        pytest.param({"allowed": True}, 200, "", id="yes"),
        pytest.param({"allowed": True, "reason": "she may"}, 200, "", id="yes, with a reason"),
        pytest.param({"allowed": False, "denied": True, "reason": "never"}, 403, ": never", id="denied"),
        pytest.param({"allowed": False, "reason": "not by me"}, 403, ": hook: not by me", id="no opinion"),
        pytest.param({"allowed": False}, 403, "", id="no opinion, no reason"),
        pytest.param({}, 403, "", id="nothing"),
        pytest.param({"allowed": True, "evaluationError": "odd"}, 200, "", id="yes, all the same"),
    ],
)
async def test_what_an_answer_means(tmp_path: Path, status: dict[str, Any], code: int, reason: str) -> None:
    async with asking(saying(**status), tmp_path) as (api, _):
        found, answer = await api.ask("GET", PODS)
    assert found == code, answer
    if code == 403:
        who = 'User "jane" cannot list resource "pods" in API group "" in the namespace "default"'
        assert answer["message"] == f"pods is forbidden: {who}{reason}"


async def test_a_denial_is_final_and_no_opinion_is_not(tmp_path: Path) -> None:
    """What everybody may do by their role, the webhook can forbid, but it need not say anything."""
    async with asking(saying(denied=True), tmp_path) as (api, _):
        assert (await api.send("GET", "/version")).status == 403
    async with asking(saying(allowed=False), tmp_path) as (api, _):
        assert (await api.send("GET", "/version")).status == 200


async def _hang(asked: Asked, reply: Reply) -> None:
    await reply.say_nothing_until_the_client_leaves()


async def _redirect(asked: Asked, reply: Reply) -> None:
    await reply.answer(CANARY.encode(), status=302, headers="location: https://127.0.0.1:1/\r\n")


async def _refuse(asked: Asked, reply: Reply) -> None:
    await reply.answer(CANARY.encode(), status=403)


async def _fail(asked: Asked, reply: Reply) -> None:
    # After a 500 it would be asked again and again, for four seconds.
    await reply.answer(CANARY.encode(), status=503)


async def _wrong_kind(asked: Asked, reply: Reply) -> None:
    await reply.answer(orjson.dumps({"kind": "TokenReview", "status": {"allowed": True, "reason": CANARY}}))


async def _wrong_version(asked: Asked, reply: Reply) -> None:
    review = {**REVIEW, "apiVersion": "authorization.k8s.io/v1beta1", "status": {"allowed": True, "reason": CANARY}}
    await reply.answer(orjson.dumps(review))


async def _allowed_as_text(asked: Asked, reply: Reply) -> None:
    await reply.answer(orjson.dumps({**REVIEW, "status": {"allowed": "true", "note": CANARY}}))


async def _no_json(asked: Asked, reply: Reply) -> None:
    await reply.answer(CANARY.encode())


async def _five_megabytes(asked: Asked, reply: Reply) -> None:
    await reply.start_chunks()
    for _ in range(5):
        await reply.chunk(CANARY.encode() * (1024 * 1024 // len(CANARY)))
    await reply.end_chunks()


async def _half(asked: Asked, reply: Reply) -> None:
    await reply.send(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n" + CANARY.encode())
    reply.close()


async def _nonsense(asked: Asked, reply: Reply) -> None:
    await reply.send(CANARY.encode() + b"\r\n\r\n")


BAD = [_hang, _redirect, _refuse, _fail, _wrong_kind, _wrong_version, _allowed_as_text]
BAD += [_no_json, _five_megabytes, _half, _nonsense]


@pytest.mark.parametrize("policy", ["NoOpinion", "Deny"])
@pytest.mark.parametrize("script", BAD, ids=lambda script: script.__name__.strip("_"))
async def test_a_bad_webhook_allows_nothing(
    tmp_path: Path, script: Script, policy: str, caplog: pytest.LogCaptureFixture
) -> None:
    """With NoOpinion the next authorizer decides; with Deny nobody else is asked. Nothing that it sent is told."""
    caplog.set_level(logging.DEBUG)
    async with asking(script, tmp_path, failurePolicy=policy, timeout="200ms") as (api, _):
        refused = await api.send("GET", PODS)
        by_role = await api.send("GET", "/version")
        metrics = (await Api(api.server).send("GET", "/metrics")).body.decode()
    assert refused.status == 500
    assert b"hook" in refused.body
    assert by_role.status == (200 if policy == "NoOpinion" else 500)
    told = refused.body.decode() + by_role.body.decode() + "".join(map(str, (r.__dict__ for r in caplog.records)))
    assert CANARY not in told
    assert TOKEN not in told
    failed = 'webhook_evaluations_fail_open_total{name="hook",result="' in metrics
    assert failed is (policy == "NoOpinion")
    assert ANSWER_BYTES_MAX < 5 * 1024 * 1024


async def test_both_allowed_and_denied_is_denied(tmp_path: Path) -> None:
    async with asking(saying(allowed=True, denied=True), tmp_path) as (api, _):
        status, answer = await api.ask("GET", PODS)
    assert status == 500
    assert "returned both allow and deny response" in answer["message"]


@pytest.mark.parametrize("how", ["another authority", "another name"])
async def test_a_bad_certificate(tmp_path: Path, how: str) -> None:
    bad: dict[str, Any] = {"authority": STRANGERS} if how == "another authority" else {"name": "elsewhere.example"}
    async with (
        webhook(saying(allowed=True), tmp_path / "hook", **bad) as (server, file),
        served(configuration(tmp_path / "c.json", hook(file), RBAC)) as api,
    ):
        assert (await api.send("GET", PODS)).status == 500
    assert server.asked == []


async def test_nobody_listens(tmp_path: Path) -> None:
    async with webhook(saying(allowed=True), tmp_path / "hook") as (_, file):
        pass
    async with served(configuration(tmp_path / "c.json", hook(file), RBAC)) as api:
        assert (await api.send("GET", PODS)).status == 500
        assert (await api.send("GET", "/version")).status == 200


class Scripted:
    """A reviewer that says what it is told, and counts."""

    def __init__(self, *said: Verdict) -> None:
        self.said = list(said)
        self.asked: list[SubjectAccessReviewSpec] = []

    async def review(self, spec: SubjectAccessReviewSpec) -> Verdict:
        self.asked.append(spec)
        return self.said.pop(0) if len(self.said) > 1 else self.said[0]


def _question(name: str = "p") -> Question:
    return Question(JANE, "get", Target("/x", version="v1", resource="pods", namespace="default", name=name))


@pytest.mark.parametrize(
    ("said", "seconds"),
    [(Allowed(), 300.0), (NoOpinion("r"), 30.0), (Denied("r"), 30.0)],
    ids=["allowed", "no opinion", "denied"],
)
async def test_an_answer_is_kept_for_its_time(said: Verdict, seconds: float) -> None:
    now, reviewer = 0.0, Scripted(said)
    authorizer = WebhookAuthorizer("hook", reviewer, clock=lambda: now)
    first = await authorizer.authorize(_question())
    now = seconds - 0.001
    assert await authorizer.authorize(_question()) == first
    assert len(reviewer.asked) == 1
    await authorizer.authorize(_question("other"))
    assert len(reviewer.asked) == 2, "another question is another answer"
    now = seconds
    await authorizer.authorize(_question())
    assert len(reviewer.asked) == 3


async def test_answers_that_are_not_to_be_kept() -> None:
    reviewer = Scripted(Allowed(), Denied(), Allowed(), Denied())
    authorizer = WebhookAuthorizer("hook", reviewer, keeping=Keeping(0.0, 0.0))
    said = [(await authorizer.authorize(_question())).opinion for _ in range(4)]
    assert said == [Opinion.ALLOW, Opinion.DENY, Opinion.ALLOW, Opinion.DENY]


async def test_failures_are_not_kept() -> None:
    class Failing(Scripted):
        async def review(self, spec: SubjectAccessReviewSpec) -> Verdict:
            await super().review(spec)
            raise Unavailable("authorization", "hook", "is away")

    reviewer = Failing(Allowed())
    authorizer = WebhookAuthorizer("hook", reviewer)
    for _ in range(3):
        assert (await authorizer.authorize(_question())).opinion is Opinion.NONE
    assert len(reviewer.asked) == 3


async def test_what_is_kept_has_a_bound() -> None:
    reviewer = Scripted(Allowed())
    authorizer = WebhookAuthorizer("hook", reviewer)
    for number in range(ENTRIES_MAX + 10):
        await authorizer.authorize(_question(f"p{number}"))
    await authorizer.authorize(_question(f"p{ENTRIES_MAX}"))
    assert len(reviewer.asked) == ENTRIES_MAX + 10, "the newest are kept"
    await authorizer.authorize(_question("p0"))
    assert len(reviewer.asked) == ENTRIES_MAX + 11, "the oldest are not"


async def test_answers_to_long_questions_are_not_kept() -> None:
    reviewer = Scripted(Allowed())
    authorizer = WebhookAuthorizer("hook", reviewer)
    for _ in range(2):
        await authorizer.authorize(_question("x" * ASKED_LENGTH_MAX))
    assert len(reviewer.asked) == 2


async def test_many_who_wait_do_not_wait_for_each_other(tmp_path: Path) -> None:
    everybody = asyncio.Barrier(5)

    async def script(asked: Asked, reply: Reply) -> None:
        await everybody.wait()
        await reply.answer(orjson.dumps({**REVIEW, "status": {"allowed": True}}))

    async with asking(script, tmp_path, timeout="20s") as (api, _):
        statuses = await asyncio.gather(*(api.send("GET", f"{PODS}/p{number}") for number in range(5)))
    assert [response.status for response in statuses] == [404] * 5
