"""Does a guest keep the promises of the authorization seam? Asked over HTTPS, so of a guest in any language."""

from __future__ import annotations

from typing import Any

import orjson

from hardpoint.machinery.reviews import BadReview
from hardpoint.runtime.promises import Broken, Promises, expect
from hardpoint.runtime.webhookpromises import Caller, Json, every_review, every_webhook
from hardpoint.seams.authorization.contract import (
    CONTRADICTION,
    VERSIONS,
    Allowed,
    SubjectAccessReviewSpec,
    Verdict,
    Version,
    asked,
    verdict,
)

RESOURCE: SubjectAccessReviewSpec = {
    "resourceAttributes": {
        "namespace": "hardpoint-check",
        "verb": "get",
        "version": "v1",
        "resource": "pods",
        "name": "web",
    },
    "user": "hardpoint-check",
    "groups": ["system:authenticated"],
    "extra": {"example.com/reason": ["check"]},
    "uid": "1",
}
PATH: SubjectAccessReviewSpec = {
    "nonResourceAttributes": {"path": "/hardpoint/check", "verb": "get"},
    "user": "hardpoint-check",
    "groups": ["system:authenticated"],
}
SELECTING: SubjectAccessReviewSpec = {
    "resourceAttributes": {
        "verb": "list",
        "version": "v1",
        "resource": "pods",
        "fieldSelector": {"requirements": [{"key": "spec.nodeName", "operator": "In", "values": ["node-1"]}]},
        "labelSelector": {"requirements": [{"key": "app", "operator": "Exists"}]},
    },
    "user": "hardpoint-check",
    "groups": [],
}
SAMPLE: Json = dict(asked("v1", RESOURCE))

promises: Promises[Caller] = Promises()


async def _verdict(guest: Caller, spec: SubjectAccessReviewSpec, version: Version = "v1") -> Verdict:
    answer = await guest.ask(asked(version, spec))
    try:
        said = verdict(answer, version)
    except BadReview as wrong:
        raise Broken(f"answered no SubjectAccessReview: {wrong}") from wrong
    expect(said.error != CONTRADICTION, "answered both allowed and denied")
    return said


@promises("requests for resources, for paths and with selectors get a verdict")
async def _verdicts(guest: Caller) -> None:
    for spec in (RESOURCE, PATH, SELECTING):
        await _verdict(guest, spec)


@promises("a review is answered in the version it was asked in, and alike in each")
async def _versions(guest: Caller) -> None:
    said = [await _verdict(guest, RESOURCE, version) for version in VERSIONS]  # type: ignore[arg-type]  # one of them
    expect(len({type(each) for each in said}) == 1, "decided otherwise in another version")


@promises("nobody in particular is not allowed anything")
async def _nobody(guest: Caller) -> None:
    nobody: Any = {key: value for key, value in RESOURCE.items() if key not in ("user", "groups", "extra", "uid")}
    await _expect_no_yes(guest, nobody, "a review that names neither user nor groups")


@promises("a review of nothing, or of two things at once, is not allowed")
async def _attributes(guest: Caller) -> None:
    neither: Any = {"user": "hardpoint-check", "groups": []}
    both: Any = {**RESOURCE, **PATH}
    await _expect_no_yes(guest, neither, "a review that asks for nothing")
    await _expect_no_yes(guest, both, "a review that asks for two things at once")


@promises("a spec of the wrong shape is refused")
async def _shapes(guest: Caller) -> None:
    wrong: tuple[Any, ...] = (
        None,
        [],
        "spec",
        {**RESOURCE, "user": 7},
        {**RESOURCE, "groups": "system:masters"},
        {**RESOURCE, "groups": [7]},
        {**RESOURCE, "resourceAttributes": "pods"},
    )
    for spec in wrong:
        await guest.expect_refusal(orjson.dumps({**SAMPLE, "spec": spec}), what=f"spec {str(spec)[:40]!r}")


@promises("a user is told apart from one whose name only looks alike")
async def _look_alikes(guest: Caller) -> None:
    if not isinstance(await _verdict(guest, {**RESOURCE, "user": "system:masters", "groups": []}), Allowed):
        return
    plain = await _verdict(guest, {**RESOURCE, "user": "hardpoint-check-nobody", "groups": []})
    expect(isinstance(plain, Allowed), "took a user who is called like a group for its member")


async def _expect_no_yes(guest: Caller, spec: SubjectAccessReviewSpec, what: str) -> None:
    answer = await guest.send(orjson.dumps(asked("v1", spec)))
    if 400 <= answer.status < 500:
        return
    said = await _verdict(guest, spec)
    expect(not isinstance(said, Allowed), f"allowed {what}")


promises.include(every_review)
promises.include(every_webhook)
