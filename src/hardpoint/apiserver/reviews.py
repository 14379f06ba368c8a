"""Questions that are answered and not stored: who am I, may I."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from hardpoint.apiserver import answers, bodies, objectmeta
from hardpoint.apiserver.authentication.contract import MASTERS
from hardpoint.apiserver.authorization.contract import Opinion, Question
from hardpoint.apiserver.call import Call
from hardpoint.apiserver.options import write_options
from hardpoint.apiserver.target import Target
from hardpoint.machinery import defaults, errors, validation
from hardpoint.machinery.messages import Response, User
from hardpoint.machinery.timestamps import format_time

Json = dict[str, Any]


async def review(call: Call) -> Response:
    """POST one of the reviews."""
    options = write_options(call.request.query, kind="CreateOptions")
    kind = call.kind
    obj = bodies.read(call, kind.api_version, kind.kind, field_validation=options.field_validation)
    defaults.apply(kind, obj)
    objectmeta.put_in_namespace(kind, obj, call.target.namespace)
    wrong = validation.of_kind(kind, obj)
    if wrong:
        # Reviews have no life in the store and no name; Kubernetes leaves their kind out here too.
        raise errors.invalid(f".{kind.group}", "", wrong)
    obj["status"] = await _STATUS[kind.kind](call, obj)
    return answers.value(call, obj, status=201)


def _user_info(user: User) -> Json:
    info: Json = {"username": user.name}
    if user.uid:
        info["uid"] = user.uid
    info["groups"] = list(user.groups)
    if user.extra:
        info["extra"] = {name: list(values) for name, values in user.extra.items()}
    return info


async def _whoami(call: Call, obj: Json) -> Json:
    obj["metadata"] = {"creationTimestamp": format_time(call.services.now())}
    return {"userInfo": _user_info(call.user)}


async def _token(call: Call, obj: Json) -> Json:
    if not obj["spec"].get("token"):
        raise errors.bad_request("token is required for TokenReview in authentication")
    return {"user": {}, "error": "invalid bearer token"}


async def _access(call: Call, obj: Json) -> Json:
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


async def _rules(call: Call, obj: Json) -> Json:
    if not obj["spec"].get("namespace"):
        raise errors.bad_request("no namespace on request")
    # The answer says nothing of the question.
    obj["metadata"], obj["spec"] = {}, {}
    everything = MASTERS in call.user.groups
    resource = [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}] if everything else []
    paths = ["*"] if everything else ["/healthz", "/livez", "/readyz", "/version", "/version/"]
    verbs = ["*"] if everything else ["get"]
    return {
        "resourceRules": resource,
        "nonResourceRules": [{"verbs": verbs, "nonResourceURLs": paths}],
        "incomplete": False,
    }


_STATUS: Mapping[str, Callable[[Call, Json], Awaitable[Json]]] = {
    "LocalSubjectAccessReview": _access,
    "SelfSubjectAccessReview": _access,
    "SelfSubjectReview": _whoami,
    "SelfSubjectRulesReview": _rules,
    "SubjectAccessReview": _access,
    "TokenReview": _token,
}
