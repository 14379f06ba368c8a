"""POST of a review: the question is read, defaulted and checked like an object; the answer is its status."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from hardpoint.apiserver import answers, bodies, objectmeta
from hardpoint.apiserver.call import Call
from hardpoint.apiserver.options import write_options
from hardpoint.apiserver.reviews import access, identity, rules, tokens
from hardpoint.machinery import defaults, errors, validation
from hardpoint.machinery.messages import Response

Json = dict[str, Any]

_STATUS: Mapping[str, Callable[[Call, Json], Awaitable[Json]]] = {
    "LocalSubjectAccessReview": access.status_of,
    "SelfSubjectAccessReview": access.status_of,
    "SelfSubjectReview": identity.status_of,
    "SelfSubjectRulesReview": rules.status_of,
    "SubjectAccessReview": access.status_of,
    "TokenReview": tokens.status_of,
}
"""Who answers which question. They may change the question too, where the answer does not repeat it."""


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
