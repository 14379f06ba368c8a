"""A question as a SubjectAccessReview asks it."""

from __future__ import annotations

from hardpoint.apiserver.authorization.contract import Question
from hardpoint.machinery import fields, selectors
from hardpoint.machinery.labels import BadSelector
from hardpoint.seams.authorization.contract import (
    NonResourceAttributes,
    Requirement,
    ResourceAttributes,
    SelectorAttributes,
    SubjectAccessReviewSpec,
)

_LABEL_OPERATORS = {
    "=": "In",
    "==": "In",
    "in": "In",
    "!=": "NotIn",
    "notin": "NotIn",
    "exists": "Exists",
    "!": "DoesNotExist",
}


def spec_of(question: Question) -> SubjectAccessReviewSpec:
    """What a webhook is asked. Fields that are empty are left out, as kube-apiserver does."""
    spec: SubjectAccessReviewSpec = {}
    if question.is_about_resource:
        spec["resourceAttributes"] = _resource(question)
    else:
        path: NonResourceAttributes = {"path": question.target.path, "verb": question.verb}
        spec["nonResourceAttributes"] = path
    user = question.user
    spec["user"] = user.name
    if user.groups:
        spec["groups"] = list(user.groups)
    if user.extra:
        spec["extra"] = {key: list(values) for key, values in user.extra.items()}
    if user.uid:
        spec["uid"] = user.uid
    return spec


def _resource(question: Question) -> ResourceAttributes:
    target = question.target
    attributes: ResourceAttributes = {"verb": question.verb}
    if target.namespace:
        attributes["namespace"] = target.namespace
    if target.group:
        attributes["group"] = target.group
    if target.version:
        attributes["version"] = target.version
    if target.resource:
        attributes["resource"] = target.resource
    if target.subresource:
        attributes["subresource"] = target.subresource
    if target.name:
        attributes["name"] = target.name
    if question.field_selector and (found := _field_requirements(question.field_selector)):
        attributes["fieldSelector"] = found
    if question.label_selector and (found := _label_requirements(question.label_selector)):
        attributes["labelSelector"] = found
    return attributes


def _field_requirements(text: str) -> SelectorAttributes:
    """Nothing for what cannot be read: then the question is about more than the request, which is safe."""
    try:
        terms = fields.parse(text).terms
    except BadSelector:
        return {}
    requirements: list[Requirement] = [
        {"key": term.field, "operator": "In" if term.equal else "NotIn", "values": [term.value]} for term in terms
    ]
    return {"requirements": requirements} if requirements else {}


def _label_requirements(text: str) -> SelectorAttributes:
    """Requirements that a review has no operator for (`gt`, `lt`) are left out, with the same effect."""
    try:
        parsed = selectors.parse(text).requirements
    except BadSelector:
        return {}
    requirements: list[Requirement] = []
    for part in parsed:
        if (operator := _LABEL_OPERATORS.get(part.operator)) is None:
            continue
        requirement: Requirement = {"key": part.key, "operator": operator}
        if part.values:
            requirement["values"] = list(part.values)
        requirements.append(requirement)
    return {"requirements": requirements} if requirements else {}
