"""The conformance kit of the authentication seam finds what is wrong with a guest, and nothing in a good one."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from hardpoint import App
from hardpoint.authentication import User
from hardpoint.machinery.messages import Handler, Request, Response
from hardpoint.seams.authentication.check import SAMPLE, promises
from tests.seams.mutants import (
    Mutation,
    answering,
    broken,
    calling,
    changing_answer,
    changing_status,
    fainting_at_nonsense,
    mutated,
    saying_yes_to_everything,
    small_load,
)

TOKEN = "good-T0k3n"


@pytest.fixture(autouse=True)
def _small_load(monkeypatch: pytest.MonkeyPatch) -> None:
    small_load(monkeypatch)


def app() -> App:
    app = App("badges")

    @app.authenticator
    async def by_badge(token: str) -> User | None:
        return User("jane", ("dev",)) if token == TOKEN else None

    return app


async def test_a_good_guest_breaks_nothing(tmp_path: Path) -> None:
    async with calling(mutated(app()), tmp_path, "/authenticate", SAMPLE, token=TOKEN) as caller:
        assert await broken(promises, caller) == {}


async def test_without_a_good_token_some_promises_are_not_looked_at(tmp_path: Path) -> None:
    async with calling(mutated(app()), tmp_path, "/authenticate", SAMPLE) as caller:
        found = [finding async for finding in promises.findings(caller)]
    assert {finding.detail for finding in found if finding.outcome == "skip"} == {"give a good token with --token-file"}


async def echoing(request: Request, good: Handler) -> Response:
    response = await good(request)
    if response.status == 200 and request.method == "POST":
        answer = orjson.loads(response.body)
        answer["status"]["error"] = f"unknown token {orjson.loads(request.body)['spec']['token']}"
        response.body = orjson.dumps(answer)
    return response


async def trimming(request: Request, good: Handler) -> Response:
    try:
        review = orjson.loads(request.body)
        review["spec"]["token"] = review["spec"]["token"].strip()
        request.body = orjson.dumps(review)
    except (ValueError, KeyError, TypeError, AttributeError):
        pass
    return await good(request)


def counting() -> Mutation:
    numbers = iter(range(10_000))

    async def mutation(request: Request, good: Handler) -> Response:
        return await changing_status(user={"username": f"user-{next(numbers)}"})(request, good)

    return mutation


@pytest.mark.parametrize(
    ("mutation", "promise"),
    [
        pytest.param(
            changing_status(authenticated=True, user={"username": "admin"}),
            "a token nobody knows is not authenticated",
            id="lets everybody in",
        ),
        pytest.param(
            changing_status(user={"username": "guest"}),
            "a token nobody knows is not authenticated",
            id="names a user it did not authenticate",
        ),
        pytest.param(
            changing_answer(apiVersion="authentication.k8s.io/v1"),
            "a review is answered in the version it was asked in",
            id="always answers in v1",
        ),
        pytest.param(
            changing_answer(kind="SubjectAccessReview"),
            "a token nobody knows is not authenticated",
            id="answers with another kind",
        ),
        pytest.param(echoing, "a token is in no status and no refusal", id="repeats the token"),
        pytest.param(
            trimming, "what only resembles a good token is not authenticated", id="takes the token with blanks"
        ),
        pytest.param(
            changing_status(authenticated=False),
            "a good token is told whose it is, every time",
            id="knows nobody",
        ),
        pytest.param(
            changing_status(audiences=["everything"]),
            "a token is good for none but the audiences that were asked for",
            id="names audiences of its own",
        ),
        pytest.param(counting(), "the same review gets the same answer", id="answers otherwise each time"),
        pytest.param(
            saying_yes_to_everything, "a body that is no JSON object is refused", id="answers 200 to nonsense"
        ),
        pytest.param(fainting_at_nonsense, "a review of another kind is refused", id="answers 500 to another kind"),
        pytest.param(fainting_at_nonsense, "a version nobody knows is refused", id="answers 500 to another version"),
        pytest.param(fainting_at_nonsense, "a review without a token is refused", id="answers 500 to no token"),
        pytest.param(answering(200, to=(413,)), "a body that is too large is refused", id="takes bodies of any size"),
        pytest.param(answering(200, to=(405,)), "only a POST is answered", id="answers GET"),
        pytest.param(answering(200, to=(415,)), "a compressed body is refused", id="takes compressed bodies"),
        pytest.param(answering(200, b"not json"), "a good review is answered with a JSON object", id="answers no JSON"),
        pytest.param(answering(503), "many reviews at once are all answered", id="is always away"),
    ],
)
async def test_a_defect_is_found_and_named(tmp_path: Path, mutation: Mutation, promise: str) -> None:
    async with calling(mutated(app(), mutation), tmp_path, "/authenticate", SAMPLE, token=TOKEN) as caller:
        found = await promises.finding(promise, caller)
    assert found.outcome == "FAIL"
    assert TOKEN not in found.detail


async def test_a_guest_that_answers_strangers_is_found(tmp_path: Path) -> None:
    handler = mutated(app())
    async with calling(handler, tmp_path, "/authenticate", SAMPLE, wants_certificate=False) as caller:
        assert list(await broken(promises, caller)) == ["a caller without a certificate is not answered"]
