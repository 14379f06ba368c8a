"""The wire shapes: what one side writes the other reads, and whatever a stranger writes is read or refused."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardpoint.machinery.errors import ApiError
from hardpoint.machinery.messages import User
from hardpoint.seams.audit import guest as audit
from hardpoint.seams.authentication import contract as authentication
from hardpoint.seams.authorization import contract as authorization
from hardpoint.seams.credential import contract as credential

texts = st.text(max_size=8)
names = st.text(min_size=1, max_size=8)
lists = st.lists(texts, max_size=3)
versions: Any = st.sampled_from(["v1", "v1beta1"])
anything = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)


def through_json(value: Any) -> Any:
    return orjson.loads(orjson.dumps(value))


@given(versions, names, lists)
def test_a_token_review_is_asked_and_read(version: Any, token: str, audiences: list[str]) -> None:
    asked = authentication.review(version, spec={"token": token, "audiences": audiences})
    assert authentication.question(through_json(asked)) == (version, token, tuple(audiences))


@given(versions, names, lists, texts, st.dictionaries(texts, lists, max_size=2))
def test_a_user_is_answered_and_read(
    version: Any, name: str, groups: list[str], uid: str, extra: dict[str, list[str]]
) -> None:
    user = User(name, tuple(groups), uid, {key: tuple(values) for key, values in extra.items()})
    status: Any = {"authenticated": True, "user": authentication.user_info(user)}
    answered = through_json(authentication.review(version, status=status))
    assert authentication.user_of(authentication.verdict(answered, version)) == user


@given(versions, names, lists, texts, texts)
def test_an_access_review_is_asked_and_read(version: Any, user: str, groups: list[str], verb: str, name: str) -> None:
    spec: Any = {"user": user, "groups": groups, "resourceAttributes": {"verb": verb, "name": name}}
    assert authorization.question(through_json(authorization.asked(version, spec))) == (version, spec)


@given(
    versions,
    st.sampled_from([authorization.Allowed, authorization.Denied, authorization.NoOpinion]),
    texts,
    texts,
)
def test_a_verdict_is_answered_and_read(version: Any, kind: Any, reason: str, error: str) -> None:
    said = kind(reason, error)
    assert authorization.verdict(through_json(authorization.answered(version, said)), version) == said


@given(
    versions,
    st.text("abcXYZ019._-", min_size=1),
    st.none() | st.datetimes(datetime(2000, 1, 1), datetime(2999, 1, 1)),
)
def test_a_credential_is_printed_and_read(version: Any, token: str, expires: datetime | None) -> None:
    whole = expires.replace(microsecond=0, tzinfo=UTC) if expires else None
    given = credential.Credential(token=token, expires=whole)
    assert credential.credential_of(through_json(credential.answered(version, given)), version) == given


def around(kind: str, version: str, field: str) -> st.SearchStrategy[dict[str, Any]]:
    """Documents of the right kind with anything in the field that counts."""
    return st.fixed_dictionaries({"apiVersion": st.just(version), "kind": st.just(kind), field: anything})


@given(anything | around("TokenReview", "authentication.k8s.io/v1", "spec"))
def test_any_token_review_is_read_or_refused(document: Any) -> None:
    with suppress(authentication.BadReview):
        authentication.question(document)


@given(anything | around("TokenReview", "authentication.k8s.io/v1", "status"))
def test_any_answer_to_a_token_review_is_read_or_refused(document: Any) -> None:
    with suppress(authentication.BadReview):
        authentication.verdict(document, "v1")


@given(anything | around("SubjectAccessReview", "authorization.k8s.io/v1", "spec"))
def test_any_access_review_is_read_or_refused(document: Any) -> None:
    with suppress(authorization.BadReview):
        authorization.question(document)


@given(anything | around("SubjectAccessReview", "authorization.k8s.io/v1", "status"))
def test_any_answer_to_an_access_review_is_read_or_refused(document: Any) -> None:
    with suppress(authorization.BadReview):
        authorization.verdict(document, "v1")


@given(anything | around("ExecCredential", "client.authentication.k8s.io/v1", "status"))
def test_anything_a_plugin_prints_is_read_or_refused(document: Any) -> None:
    with suppress(credential.BadCredential):
        credential.credential_of(document, "v1")


@given(anything | around("ExecCredential", "client.authentication.k8s.io/v1", "spec"))
def test_anything_a_plugin_is_told_is_read_or_refused(document: Any) -> None:
    with suppress(credential.BadCredential):
        credential.question(document)


@pytest.mark.parametrize("field", ["user", "objectRef", "responseStatus", "annotations", "sourceIPs", "stage"])
@given(value=anything)
async def test_any_event_is_taken_or_refused(field: str, value: Any) -> None:
    async def look(events: list[audit.AuditEvent]) -> None:
        for event in events:
            _ = (event.user.username, event.objectRef and event.objectRef.name, event.responseStatus, event.stage)

    batch = {"kind": "EventList", "apiVersion": "audit.k8s.io/v1", "items": [{"auditID": "a", field: value}]}
    with suppress(ApiError):
        await audit.AuditSinkGuest(look, path="/a").answer(batch)
