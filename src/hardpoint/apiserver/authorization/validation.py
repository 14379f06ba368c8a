"""What is wrong with an AuthorizationConfiguration, in kube-apiserver's words."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from hardpoint.apiserver.authorization.matching import BadCondition, compiled
from hardpoint.apiserver.authorization.options import MODES, WEBHOOK
from hardpoint.machinery import durations, names
from hardpoint.machinery.fielderrors import (
    FieldError,
    at,
    duplicate,
    invalid,
    not_supported,
    required,
    too_many,
    under,
)

Json = dict[str, Any]

CONDITIONS_MAX = 64
_TIMEOUT_MAX = 30 * 10**9
_VERSIONS = ("v1", "v1beta1")
_POLICIES = ("NoOpinion", "Deny")
_IN_CLUSTER, _FROM_FILE = "InClusterConfig", "KubeConfigFile"


def configuration(authorizers: Sequence[Json]) -> list[str]:
    """Everything that is wrong."""
    if not authorizers:
        return [str(required("authorizers", "at least one authorization mode must be defined"))]
    types: set[str] = set()
    seen: set[str] = set()
    problems: list[FieldError] = []
    for index, each in enumerate(authorizers):
        problems += _authorizer(each, at("authorizers", index), types, seen)
    if problems:
        return [str(problem) for problem in problems]
    return [
        f"expected name {each['type'].lower()} for authorizer {each['type']} instead of {each['name']}"
        for each in authorizers
        if each["type"] != WEBHOOK and each["name"] != each["type"].lower()
    ]


def _authorizer(value: Json, path: str, types: set[str], seen: set[str]) -> list[FieldError]:
    type = value.get("type", "")
    where = under(path, "type")
    if not type:
        return [required(where)]
    if type not in MODES:
        return [not_supported(where, type, sorted(MODES))]
    if type in types and type != WEBHOOK:
        return [duplicate(where, type)]
    types.add(type)
    problems = _name(value.get("name", ""), under(path, "name"), seen)
    webhook = value.get("webhook")
    if type == WEBHOOK:
        missing = [required(under(path, "webhook"), "required when type=Webhook")]
        return problems + (missing if webhook is None else _webhook(webhook, path))
    if webhook is not None:
        problems.append(invalid(under(path, "webhook"), "non-null", "may only be specified when type=Webhook"))
    return problems


def _name(name: str, path: str, seen: set[str]) -> list[FieldError]:
    if not name:
        return [required(path)]
    if name in seen:
        return [duplicate(path, name)]
    seen.add(name)
    wrong = names.dns_subdomain(name)
    return [invalid(path, name, f"authorizer name is invalid: {', '.join(wrong)}")] if wrong else []


def _webhook(webhook: Json, path: str) -> list[FieldError]:
    """The fields are told as if they were the authorizer's own, as kube-apiserver does."""
    return [
        *_timeout(webhook.get("timeout", ""), under(path, "timeout")),
        *_kept(webhook.get("authorizedTTL", ""), under(path, "authorizedTTL")),
        *_kept(webhook.get("unauthorizedTTL", ""), under(path, "unauthorizedTTL")),
        *_one_of(webhook, "subjectAccessReviewVersion", path, _VERSIONS),
        *_condition_version(webhook, path),
        *_one_of(webhook, "failurePolicy", path, _POLICIES),
        *_connection(webhook.get("connectionInfo", {}), under(path, "connectionInfo")),
        *_conditions(webhook.get("matchConditions", []), under(path, "matchConditions")),
    ]


def _timeout(text: str, path: str) -> list[FieldError]:
    try:
        nanoseconds = durations.parse(text) if text else 0
    except durations.BadDuration as wrong:
        return [invalid(path, text, str(wrong))]
    if nanoseconds == 0:
        return [required(path)]
    if not 0 < nanoseconds <= _TIMEOUT_MAX:
        return [invalid(path, durations.format_go(nanoseconds), "must be > 0s and <= 30s")]
    return []


def _kept(text: str, path: str) -> list[FieldError]:
    try:
        nanoseconds = durations.parse(text) if text else 0
    except durations.BadDuration as wrong:
        return [invalid(path, text, str(wrong))]
    return [invalid(path, durations.format_go(nanoseconds), "must be > 0s")] if nanoseconds < 0 else []


def _one_of(webhook: Json, field: str, path: str, choices: Sequence[str]) -> list[FieldError]:
    found = webhook.get(field, "")
    if not found:
        return [required(under(path, field))]
    return [] if found in choices else [not_supported(under(path, field), found, choices)]


def _condition_version(webhook: Json, path: str) -> list[FieldError]:
    field = "matchConditionSubjectAccessReviewVersion"
    found = webhook.get(field, "")
    if not found:
        needed = webhook.get("matchConditions")
        return [required(under(path, field), "required if match conditions are specified")] if needed else []
    return [] if found == "v1" else [not_supported(under(path, field), found, ("v1",))]


def _connection(info: Json, path: str) -> list[FieldError]:
    type, file, where = info.get("type", ""), info.get("kubeConfigFile", ""), under(path, "kubeConfigFile")
    if not type:
        return [required(under(path, "type"))]
    if type == _IN_CLUSTER:
        # kube-apiserver takes the word and has no use for it: it is in no cluster but its own.
        return [invalid(under(path, "type"), type, "an API server has no cluster around it; use KubeConfigFile")]
    if type != _FROM_FILE:
        return [not_supported(under(path, "type"), type, (_IN_CLUSTER, _FROM_FILE))]
    if not file:
        return [required(where)]
    if not os.path.isabs(file):
        return [invalid(where, file, "must be an absolute path")]
    if not os.path.exists(file):
        return [invalid(where, file, f"error loading file: stat {file}: no such file or directory")]
    return [] if os.path.isfile(file) else [invalid(where, file, "must be a regular file")]


def _conditions(conditions: Sequence[Json], path: str) -> list[FieldError]:
    if len(conditions) > CONDITIONS_MAX:
        return [too_many(path, len(conditions), CONDITIONS_MAX)]
    seen: set[str] = set()
    problems: list[FieldError] = []
    for index, condition in enumerate(conditions):
        expression, where = condition.get("expression", ""), under(at(path, index), "expression")
        if not expression.strip():
            problems.append(required(where))
        elif expression in seen:
            problems.append(duplicate(where, expression))
        else:
            seen.add(expression)
            problems += _condition(expression, where)
    return problems


def _condition(expression: str, path: str) -> list[FieldError]:
    try:
        compiled(expression)
    except BadCondition as wrong:
        return [invalid(path, expression, str(wrong))]
    return []
