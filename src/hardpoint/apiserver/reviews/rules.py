"""SelfSubjectRulesReview: what may I do in a namespace. `kubectl auth can-i --list` asks this."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hardpoint.apiserver.call import Call
from hardpoint.machinery import errors

Json = dict[str, Any]

_OF_RESOURCES = ("verbs", "apiGroups", "resources", "resourceNames")
_OF_PATHS = ("verbs", "nonResourceURLs")


async def status_of(call: Call, obj: Json) -> Json:
    namespace = obj["spec"].get("namespace")
    if not namespace:
        raise errors.bad_request("no namespace on request")
    # The answer says nothing of the question.
    obj["metadata"], obj["spec"] = {}, {}
    known = await call.services.authorization.rules_for(call.user, namespace)
    status: Json = {
        "resourceRules": [_part(rule, _OF_RESOURCES) for rule in known.rules if rule.get("resources")],
        "nonResourceRules": [_part(rule, _OF_PATHS) for rule in known.rules if rule.get("nonResourceURLs")],
        "incomplete": known.incomplete,
    }
    if known.error:
        status["evaluationError"] = known.error
    return status


def _part(rule: Mapping[str, Any], fields: tuple[str, ...]) -> Json:
    return {field: rule[field] for field in fields if rule.get(field)}
