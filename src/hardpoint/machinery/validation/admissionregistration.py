"""What makes a webhook configuration invalid. Admission policies have `admissionregistration_policies`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hardpoint.machinery import names
from hardpoint.machinery.fielderrors import FieldError, at, duplicate, invalid, not_supported, required
from hardpoint.machinery.validation import admissionregistration_matching as matching
from hardpoint.machinery.validation import admissionregistration_policies as policies
from hardpoint.machinery.validation import rules, webhookclients
from hardpoint.machinery.validation.labelselectors import has_invalid_values, label_selector

Json = dict[str, Any]
Errors = list[FieldError]

NO_SIDE_EFFECTS = ("None", "NoneOnDryRun")
SIDE_EFFECTS = ("None", "NoneOnDryRun", "Some", "Unknown")
TIMEOUT_SECONDS_MIN, TIMEOUT_SECONDS_MAX = 1, 30
VERSIONS_WANTED = f"must specify one of {', '.join(webhookclients.REVIEW_VERSIONS)}"


@dataclass(frozen=True)
class _Leniency:
    """What an update may leave as bad as it was."""

    side_effects: bool = False
    unknown_versions: bool = False
    same_names: bool = False
    label_values: bool = False
    conditions: bool = False


def _on_create(obj: Json) -> Errors:
    return _webhooks(obj, _Leniency())


def _on_update(obj: Json, old: Json) -> Errors:
    webhooks = old.get("webhooks") or []
    known = webhookclients.REVIEW_VERSIONS
    hook_names = [webhook.get("name") for webhook in webhooks]
    leniency = _Leniency(
        side_effects=any(webhook.get("sideEffects") not in NO_SIDE_EFFECTS for webhook in webhooks),
        unknown_versions=any(
            webhook.get("admissionReviewVersions") and not set(webhook["admissionReviewVersions"]) & set(known)
            for webhook in webhooks
        ),
        same_names=len(set(hook_names)) < len(hook_names),
        label_values=any(
            has_invalid_values(webhook.get(field))
            for webhook in webhooks
            for field in ("namespaceSelector", "objectSelector")
        ),
        conditions=_conditions(obj) == _conditions(old),
    )
    return _webhooks(obj, leniency)


def _conditions(obj: Json) -> list[Any]:
    return [webhook.get("matchConditions") for webhook in obj.get("webhooks") or ()]


def _webhooks(obj: Json, leniency: _Leniency) -> Errors:
    errors: Errors = []
    seen = set()
    for index, webhook in enumerate(obj.get("webhooks") or ()):
        path = at("webhooks", index)
        _webhook(errors, path, webhook, leniency)
        versions = webhook.get("admissionReviewVersions") or []
        found = webhookclients.review_versions(f"{path}.admissionReviewVersions", versions, VERSIONS_WANTED)
        errors += [error for error in found if not (leniency.unknown_versions and "at least one" in error.detail)]
        name = webhook.get("name", "")
        if name and name in seen and not leniency.same_names:
            errors.append(duplicate(f"{path}.name", name))
        seen.add(name)
    return errors


def _webhook(errors: Errors, path: str, webhook: Json, leniency: _Leniency) -> None:
    errors += names.fully_qualified_name(f"{path}.name", webhook.get("name", ""))
    for index, rule in enumerate(webhook.get("rules") or ()):
        matching.rule_with_operations(errors, at(f"{path}.rules", index), rule)
    errors += rules.choice(f"{path}.failurePolicy", webhook["failurePolicy"], matching.FAILURE_POLICIES)
    errors += rules.choice(f"{path}.matchPolicy", webhook["matchPolicy"], matching.MATCH_POLICIES)
    _side_effects(errors, f"{path}.sideEffects", webhook, SIDE_EFFECTS if leniency.side_effects else NO_SIDE_EFFECTS)
    timeout = webhook["timeoutSeconds"]
    if not TIMEOUT_SECONDS_MIN <= timeout <= TIMEOUT_SECONDS_MAX:
        detail = f"the timeout value must be between {TIMEOUT_SECONDS_MIN} and {TIMEOUT_SECONDS_MAX} seconds"
        errors.append(invalid(f"{path}.timeoutSeconds", timeout, detail))
    for field in ("namespaceSelector", "objectSelector"):
        label_selector(errors, f"{path}.{field}", webhook[field], invalid_values_allowed=leniency.label_values)
    if "reinvocationPolicy" in webhook:
        policy = webhook["reinvocationPolicy"]
        errors += rules.choice(f"{path}.reinvocationPolicy", policy, matching.REINVOCATION_POLICIES)
    errors += webhookclients.client_config(f"{path}.clientConfig", webhook["clientConfig"])
    if not leniency.conditions:
        matching.match_conditions(errors, f"{path}.matchConditions", webhook.get("matchConditions") or ())


def _side_effects(errors: Errors, path: str, webhook: Json, allowed: tuple[str, ...]) -> None:
    value = webhook.get("sideEffects")
    if value is None:
        errors.append(required(path, f"must specify one of {', '.join(allowed)}"))
    elif value not in allowed:
        errors.append(not_supported(path, value, allowed))


CREATE = {
    "ValidatingWebhookConfiguration": _on_create,
    "MutatingWebhookConfiguration": _on_create,
    **policies.CREATE,
}
UPDATE = {
    "ValidatingWebhookConfiguration": _on_update,
    "MutatingWebhookConfiguration": _on_update,
    **policies.UPDATE,
}
