"""The conformance kit of the authorization seam finds what is wrong with a guest, and nothing in a good one."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from hardpoint import App
from hardpoint.authorization import AccessRequest, Allowed, Denied, NoOpinion, Verdict
from hardpoint.machinery.messages import Handler, Request, Response
from hardpoint.seams.authorization.check import SAMPLE, promises
from tests.seams.mutants import (
    Mutation,
    broken,
    calling,
    changing_answer,
    changing_status,
    fainting_at_nonsense,
    mutated,
    saying_yes_to_everything,
    small_load,
)


@pytest.fixture(autouse=True)
def _small_load(monkeypatch: pytest.MonkeyPatch) -> None:
    small_load(monkeypatch)


def app(verdict: Verdict | None = None) -> App:
    app = App("rules")

    @app.authorizer
    async def decide(request: AccessRequest) -> Verdict:
        return verdict or (Allowed() if "dev" in request.groups else NoOpinion())

    return app


@pytest.mark.parametrize("verdict", [None, Allowed("all"), Denied("none"), NoOpinion()], ids=str)
async def test_a_good_guest_breaks_nothing(tmp_path: Path, verdict: Verdict | None) -> None:
    async with calling(mutated(app(verdict)), tmp_path, "/authorize", SAMPLE) as caller:
        assert await broken(promises, caller) == {}


async def trusting(request: Request, good: Handler) -> Response:
    """Allows whatever it cannot make sense of."""
    response = await good(request)
    if response.status == 400 and request.body.startswith(b'{"apiVersion":"authorization.k8s.io/v1"'):
        answer = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "status": {"allowed": True}}
        return Response(200, orjson.dumps(answer))
    return response


async def confusing(request: Request, good: Handler) -> Response:
    """Takes a user who is called like a group for its member."""
    response = await good(request)
    if b'"user":"system:masters"' in request.body:
        return await changing_status(allowed=True)(request, good)
    return response


async def forgetful(request: Request, good: Handler) -> Response:
    """Does not know that groups have another name in v1beta1."""
    if b"authorization.k8s.io/v1beta1" in request.body:
        return await changing_status(allowed=True)(request, good)
    return await good(request)


@pytest.mark.parametrize(
    ("mutation", "promise"),
    [
        pytest.param(
            changing_status(allowed=True, denied=True),
            "requests for resources, for paths and with selectors get a verdict",
            id="says both",
        ),
        pytest.param(
            changing_status(allowed="yes"),
            "requests for resources, for paths and with selectors get a verdict",
            id="says it in text",
        ),
        pytest.param(
            changing_answer(apiVersion="authorization.k8s.io/v1"),
            "a review is answered in the version it was asked in, and alike in each",
            id="always answers in v1",
        ),
        pytest.param(
            forgetful,
            "a review is answered in the version it was asked in, and alike in each",
            id="decides otherwise in v1beta1",
        ),
        pytest.param(trusting, "nobody in particular is not allowed anything", id="allows nobody"),
        pytest.param(trusting, "a review of nothing, or of two things at once, is not allowed", id="allows nothing"),
        pytest.param(
            confusing, "a user is told apart from one whose name only looks alike", id="mistakes names for groups"
        ),
        pytest.param(fainting_at_nonsense, "a spec of the wrong shape is refused", id="answers 500 to wrong shapes"),
        pytest.param(saying_yes_to_everything, "a review of another kind is refused", id="answers 200 to other kinds"),
    ],
)
async def test_a_defect_is_found_and_named(tmp_path: Path, mutation: Mutation, promise: str) -> None:
    async with calling(mutated(app(), mutation), tmp_path, "/authorize", SAMPLE) as caller:
        found = await promises.finding(promise, caller)
    assert found.outcome == "FAIL"
