"""SubjectAccessReview and its relatives: may somebody, or may I, do this."""

from __future__ import annotations

from typing import Any

from hardpoint.apiserver.authorization.contract import Opinion, Question
from hardpoint.apiserver.call import Call
from hardpoint.apiserver.target import Target
from hardpoint.machinery.messages import User

Json = dict[str, Any]


async def status_of(call: Call, obj: Json) -> Json:
    spec = obj["spec"]
    if obj["kind"] == "SelfSubjectAccessReview":
        user = call.user
    else:
        user = User(spec.get("user", ""), tuple(spec.get("groups") or ()), spec.get("uid", ""))
    asked = spec.get("resourceAttributes")
    if asked is not None:
        target = Target(
            "",
            asked.get("group", ""),
            asked.get("version", ""),
            asked.get("resource", "") or "*",
            asked.get("namespace", ""),
            asked.get("name", ""),
            asked.get("subresource", ""),
        )
        verb = asked.get("verb", "")
    else:
        path = spec.get("nonResourceAttributes") or {}
        target, verb = Target(path.get("path", "")), path.get("verb", "")
    decision = await call.services.authorization.authorize(Question(user, verb, target))
    status: Json = {"allowed": decision.is_allowed}
    if decision.opinion is Opinion.DENY:
        status["denied"] = True
    if decision.reason:
        status["reason"] = decision.reason
    if decision.error:
        status["evaluationError"] = decision.error
    return status
