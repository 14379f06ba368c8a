"""Defaults of webhook configurations and admission policies."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

Json = dict[str, Any]

WEBHOOK_TIMEOUT_SECONDS = 10
WEBHOOK_PORT = 443


def _validating_webhooks(obj: Json) -> None:
    for webhook in obj.get("webhooks", ()):
        _webhook(webhook)


def _mutating_webhooks(obj: Json) -> None:
    for webhook in obj.get("webhooks", ()):
        _webhook(webhook)
        webhook.setdefault("reinvocationPolicy", "Never")


def _webhook(webhook: Json) -> None:
    webhook.setdefault("failurePolicy", "Fail")
    webhook.setdefault("timeoutSeconds", WEBHOOK_TIMEOUT_SECONDS)
    _matching(webhook)
    _scopes(webhook.get("rules", ()))
    service = webhook["clientConfig"].get("service")
    if service is not None:
        service.setdefault("port", WEBHOOK_PORT)


def _matching(holder: Json) -> None:
    holder.setdefault("matchPolicy", "Equivalent")
    holder.setdefault("namespaceSelector", {})
    holder.setdefault("objectSelector", {})


def _scopes(rules: Iterable[Json]) -> None:
    for rule in rules:
        rule.setdefault("scope", "*")


def _policy(obj: Json) -> None:
    spec = obj["spec"]
    spec.setdefault("failurePolicy", "Fail")
    _match_resources(spec.get("matchConstraints"))


def _binding(obj: Json) -> None:
    _match_resources(obj["spec"].get("matchResources"))


def _match_resources(match: Json | None) -> None:
    if match is None:
        return
    _matching(match)
    _scopes(match.get("resourceRules", ()))
    _scopes(match.get("excludeResourceRules", ()))


DEFAULTS = {
    "ValidatingWebhookConfiguration": _validating_webhooks,
    "MutatingWebhookConfiguration": _mutating_webhooks,
    "ValidatingAdmissionPolicy": _policy,
    "MutatingAdmissionPolicy": _policy,
    "ValidatingAdmissionPolicyBinding": _binding,
    "MutatingAdmissionPolicyBinding": _binding,
}
