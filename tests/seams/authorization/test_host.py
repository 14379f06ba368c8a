"""The cluster's side of the authorization seam, against guests that answer, fail and lie."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from hardpoint.machinery.errors import ContractBroken, Unavailable
from hardpoint.seams.authorization.contract import (
    CONTRADICTION,
    Allowed,
    Denied,
    NoOpinion,
    SubjectAccessReviewSpec,
    Verdict,
    Version,
)
from hardpoint.seams.authorization.host import WebhookReviewer
from tests.seams.webhooks import AT_ONCE, answering, guest

SPEC: SubjectAccessReviewSpec = {
    "resourceAttributes": {"namespace": "shop", "verb": "get", "resource": "pods"},
    "user": "jane",
    "groups": ["dev"],
}


def said(version: str = "v1", kind: str = "SubjectAccessReview", **status: Any) -> dict[str, Any]:
    return {"apiVersion": f"authorization.k8s.io/{version}", "kind": kind, "status": status}


@pytest.mark.parametrize(
    ("status", "verdict"),
    [
        pytest.param({"allowed": True, "reason": "hers"}, Allowed("hers"), id="allowed"),
        pytest.param({"allowed": False, "denied": True, "reason": "not hers"}, Denied("not hers"), id="denied"),
        pytest.param({"allowed": False, "reason": "who?"}, NoOpinion("who?"), id="no opinion"),
        pytest.param({}, NoOpinion(), id="nothing said"),
        pytest.param({"allowed": True, "denied": True}, Denied("", CONTRADICTION), id="both"),
        pytest.param({"allowed": True, "evaluationError": "half"}, Allowed("", "half"), id="in spite of an error"),
    ],
)
async def test_what_an_answer_says(tmp_path: Path, status: dict[str, Any], verdict: Verdict) -> None:
    async with guest(answering(said(**status)), tmp_path) as (_, webhook):
        assert await WebhookReviewer(webhook).review(SPEC) == verdict


@pytest.mark.parametrize(("version", "groups"), [("v1", "groups"), ("v1beta1", "group")])
async def test_groups_have_another_name_in_each_version(tmp_path: Path, version: Version, groups: str) -> None:
    async with guest(answering(said(version, allowed=True)), tmp_path) as (server, webhook):
        assert await WebhookReviewer(webhook, version=version).review(SPEC) == Allowed()
    assert orjson.loads(server.asked[0].body) == {
        "apiVersion": f"authorization.k8s.io/{version}",
        "kind": "SubjectAccessReview",
        "spec": {"resourceAttributes": SPEC["resourceAttributes"], "user": "jane", groups: ["dev"]},
    }


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(said(kind="TokenReview", allowed=True), id="another kind"),
        pytest.param(said("v1beta1", allowed=True), id="another version"),
        pytest.param({"status": {"allowed": True}}, id="no kind at all"),
        pytest.param(said(allowed="true"), id="allowed is text"),
        pytest.param(said(allowed=1), id="allowed is a number"),
        pytest.param(said(denied="no"), id="denied is text"),
        pytest.param(said(allowed=True, reason=["because"]), id="reason is a list"),
        pytest.param({**said(), "status": None}, id="status is null"),
        pytest.param(302, id="a redirect"),
        pytest.param(403, id="it refuses us"),
    ],
)
async def test_an_answer_that_breaks_the_contract(tmp_path: Path, answer: dict[str, Any] | int) -> None:
    async with guest(answering(answer), tmp_path) as (_, webhook):
        with pytest.raises(ContractBroken):
            await WebhookReviewer(webhook).review(SPEC)


async def test_a_busy_guest_is_asked_five_times(tmp_path: Path) -> None:
    async with guest(answering(500), tmp_path) as (server, webhook):
        with pytest.raises(Unavailable, match="answered 500"):
            await WebhookReviewer(webhook, waits=AT_ONCE).review(SPEC)
    assert len(server.asked) == 5


async def test_a_guest_that_is_away_is_asked_once(tmp_path: Path) -> None:
    async with guest(answering(503), tmp_path) as (server, webhook):
        with pytest.raises(Unavailable, match="answered 503"):
            await WebhookReviewer(webhook, waits=AT_ONCE).review(SPEC)
    assert len(server.asked) == 1
