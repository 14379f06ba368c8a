"""SelfSubjectRulesReview: what may I do in a namespace. `kubectl auth can-i --list` asks this."""

from __future__ import annotations

from typing import Any

from hardpoint.apiserver.authentication.contract import MASTERS
from hardpoint.apiserver.call import Call
from hardpoint.machinery import errors

Json = dict[str, Any]


async def status_of(call: Call, obj: Json) -> Json:
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
