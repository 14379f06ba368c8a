"""The author's side of the authorization seam: what a function is asked, and what is answered."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hardpoint import App
from hardpoint.authorization import AccessRequest, Allowed, Denied, NoOpinion, Verdict
from hardpoint.client.webhook import Webhook
from hardpoint.machinery.errors import ApiError, ConfigError, Unavailable
from hardpoint.runtime.authored import AuthorFailed
from hardpoint.sdk.certificates import Trust
from hardpoint.sdk.serving import Place, serving
from hardpoint.seams.authorization.guest import AuthorizerGuest
from hardpoint.seams.authorization.host import WebhookReviewer
from tests.seams.kubeconfigs import endpoint_of
from tests.seams.webhooks import AT_ONCE

SPEC: dict[str, Any] = {
    "user": "jane",
    "groups": ["dev"],
    "uid": "42",
    "extra": {"team": ["a"]},
    "resourceAttributes": {
        "namespace": "shop",
        "verb": "list",
        "group": "apps",
        "version": "v1",
        "resource": "deployments",
        "labelSelector": {"requirements": [{"key": "app", "operator": "In", "values": ["web"]}]},
    },
}
PATH: dict[str, Any] = {"user": "jane", "nonResourceAttributes": {"path": "/healthz", "verb": "get"}}


def asked(spec: Any, version: str = "v1", kind: str = "SubjectAccessReview") -> dict[str, Any]:
    return {"apiVersion": f"authorization.k8s.io/{version}", "kind": kind, "spec": spec}


def answering(verdict: Any) -> AuthorizerGuest:
    async def decide(request: AccessRequest) -> Verdict:
        return verdict  # type: ignore[no-any-return]

    return AuthorizerGuest(decide, path="/a")


@pytest.mark.parametrize(
    ("verdict", "status"),
    [
        (Allowed(), {"allowed": True}),
        (Allowed("hers"), {"allowed": True, "reason": "hers"}),
        (Denied("no"), {"allowed": False, "denied": True, "reason": "no"}),
        (NoOpinion(), {"allowed": False}),
        (NoOpinion("who?", error="half"), {"allowed": False, "reason": "who?", "evaluationError": "half"}),
    ],
)
async def test_a_verdict_is_answered(verdict: Verdict, status: dict[str, Any]) -> None:
    answer = await answering(verdict).answer(asked(SPEC))
    assert answer == {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "status": status}


@pytest.mark.parametrize(("version", "groups"), [("v1", "groups"), ("v1beta1", "group")])
async def test_a_function_sees_who_wants_what(version: str, groups: str) -> None:
    seen: list[AccessRequest] = []

    async def decide(request: AccessRequest) -> Verdict:
        seen.append(request)
        return NoOpinion()

    spec = {groups if key == "groups" else key: value for key, value in SPEC.items()}
    guest = AuthorizerGuest(decide, path="/a")
    await guest.answer(asked(spec, version))
    await guest.answer(asked(PATH, version))
    resource, path = seen
    assert (resource.user, resource.groups, resource.uid, resource.extra) == ("jane", ["dev"], "42", {"team": ["a"]})
    what = resource.resourceAttributes
    assert what is not None
    assert (what.namespace, what.verb, what.group, what.resource, what.name) == (
        "shop",
        "list",
        "apps",
        "deployments",
        "",
    )
    assert what.labelSelector is not None
    assert what.labelSelector.requirements[0].values == ["web"]
    assert what.fieldSelector is None
    assert resource.nonResourceAttributes is None
    assert path.resourceAttributes is None
    assert path.nonResourceAttributes is not None
    assert (path.nonResourceAttributes.path, path.groups) == ("/healthz", [])


@pytest.mark.parametrize(
    "review",
    [
        {},
        asked(SPEC, kind="TokenReview"),
        asked(SPEC, "v2"),
        asked(None),
        asked({**SPEC, "user": 7}),
        asked({**SPEC, "groups": "dev"}),
        asked({**SPEC, "extra": []}),
        asked({"resourceAttributes": SPEC["resourceAttributes"]}),
        asked({"user": "jane"}),
        asked({**SPEC, **PATH}),
        asked({**SPEC, "resourceAttributes": "pods"}),
        asked({**SPEC, "resourceAttributes": {"verb": 7}}),
        asked({**SPEC, "resourceAttributes": {"verb": "list", "labelSelector": "app=web"}}),
        asked({**PATH, "nonResourceAttributes": {"path": ["/"]}}),
        asked({**SPEC, "extra": {"team": "a"}}),
    ],
    ids=range(15),
)
async def test_what_is_no_review_is_refused(review: dict[str, Any]) -> None:
    with pytest.raises(ApiError) as refused:
        await answering(Allowed()).answer(review)
    assert refused.value.code == 400


@pytest.mark.parametrize("returned", [None, True, "allow", {"allowed": True}, Allowed], ids=repr)
async def test_what_is_no_verdict_is_no_answer_and_told_to_the_author(
    returned: Any, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(AuthorFailed):
        await answering(returned).answer(asked(SPEC))
    assert "return Allowed(), Denied() or NoOpinion()" in vars(caplog.records[0])["error"]


@pytest.mark.parametrize("function", [lambda: NoOpinion(), lambda a, b: NoOpinion()], ids=["0", "2"])
def test_a_function_that_cannot_be_asked_is_refused_when_it_is_registered(function: Any) -> None:
    with pytest.raises(ConfigError, match=r"test_guest.py:\d+: @app.authorizer: .* must take one argument"):
        App("test").authorizer(function)


async def test_host_and_guest_over_real_tls_and_a_failing_function_is_no_answer(tmp_path: Path) -> None:
    app = App("rules")

    @app.authorizer
    def decide(request: AccessRequest) -> Verdict:
        if request.user == "broken":
            raise RuntimeError("out of order")
        return Allowed("dev") if "dev" in request.groups else NoOpinion()

    async with serving([app], Trust(tmp_path / "pki"), Place(port=0)) as served:
        (guest,) = served.guests.values()
        webhook = Webhook("authorization", endpoint_of(served.config(guest), tmp_path))
        reviewer = WebhookReviewer(webhook, waits=AT_ONCE)
        assert await reviewer.review(SPEC) == Allowed("dev")  # type: ignore[arg-type]  # JSON
        assert await reviewer.review(PATH) == NoOpinion()  # type: ignore[arg-type]  # JSON
        with pytest.raises(Unavailable, match="answered 500"):
            await reviewer.review({**SPEC, "user": "broken"})  # type: ignore[typeddict-item]  # JSON
        await reviewer.close()
