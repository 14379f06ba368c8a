"""SubjectAccessReview and its relatives: may somebody, or may I, do this."""

from __future__ import annotations

from typing import Any

from hardpoint.apiserver.authorization.contract import Opinion, Question
from hardpoint.apiserver.call import Call
from hardpoint.apiserver.reviews.selectors import Told, field_selector, label_selector
from hardpoint.apiserver.target import Target
from hardpoint.machinery.messages import User

Json = dict[str, Any]


async def status_of(call: Call, obj: Json) -> Json:
    spec = obj["spec"]
    user = call.user if obj["kind"] == "SelfSubjectAccessReview" else _subject(spec)
    question, problems = _question(user, spec)
    decision = await call.services.authorization.authorize(question)
    status: Json = {"allowed": decision.is_allowed}
    if decision.opinion is Opinion.DENY:
        status["denied"] = True
    if decision.reason:
        status["reason"] = decision.reason
    if decision.error:
        problems.insert(0, decision.error)
    if problems:
        status["evaluationError"] = "; ".join(problems)
    return status


def _subject(spec: Json) -> User:
    extra = {key: tuple(values or ()) for key, values in (spec.get("extra") or {}).items()}
    return User(spec.get("user", ""), tuple(spec.get("groups") or ()), spec.get("uid", ""), extra)


def _question(user: User, spec: Json) -> tuple[Question, list[str]]:
    """What a review asks, and what of it was not understood."""
    asked = spec.get("resourceAttributes")
    if asked is None:
        path = spec["nonResourceAttributes"]
        return Question(user, path.get("verb", ""), Target(path.get("path", ""))), []
    target = Target(
        "",
        asked.get("group", ""),
        asked.get("version") or "*",
        asked.get("resource", ""),
        asked.get("namespace", ""),
        asked.get("name", ""),
        asked.get("subresource", ""),
    )
    selectors = {
        "fieldSelector": field_selector(asked.get("fieldSelector") or {}),
        "labelSelector": label_selector(asked.get("labelSelector") or {}),
    }
    fields, labels = selectors.values()
    problems = [text for name, told in selectors.items() if (text := _problem(name, told))]
    return Question(user, asked.get("verb", ""), target, fields.text, labels.text), problems


def _problem(name: str, told: Told) -> str:
    if told.is_understood:
        return ""
    how_much = "partially ignored" if told.text else "ignored"
    return f"spec.resourceAttributes.{name} {how_much} due to parse error"
