"""AuthorizationConfiguration of apiserver.config.k8s.io: which authorizers are asked, in which order.

A file is read strictly, and everything that is wrong with it is told at once, by field, in kube-apiserver's words. That
it is read again when it changes is in `reloading.py`; what follows from it, in `modes.py`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from hardpoint.apiserver.authorization import options
from hardpoint.apiserver.authorization.contract import Opinion
from hardpoint.apiserver.authorization.options import AuthorizationOptions, WebhookOptions
from hardpoint.machinery.errors import ConfigError

if TYPE_CHECKING:
    from hardpoint.seams.authorization.contract import Version

Json = dict[str, Any]

KIND = "AuthorizationConfiguration"
VERSIONS = tuple(f"apiserver.config.k8s.io/{version}" for version in ("v1", "v1beta1", "v1alpha1"))
PATIENCE_SECONDS = 30.0
FLAGS_WEBHOOK_NAME = "default"

_FIELDS = {
    "authorizers": [
        {
            "type": str,
            "name": str,
            "webhook": {
                "authorizedTTL": str,
                "cacheAuthorizedRequests": bool,
                "unauthorizedTTL": str,
                "cacheUnauthorizedRequests": bool,
                "timeout": str,
                "subjectAccessReviewVersion": str,
                "matchConditionSubjectAccessReviewVersion": str,
                "failurePolicy": str,
                "connectionInfo": {"type": str, "kubeConfigFile": str},
                "matchConditions": [{"expression": str}],
            },
        }
    ]
}


class Keeping(NamedTuple):
    """How long a webhook's answers are kept; not at all where it is zero."""

    allowed_seconds: float = 300.0
    other_seconds: float = 30.0


class WebhookSettings(NamedTuple):
    """How one webhook is asked."""

    kubeconfig: Path
    version: Version = "v1"
    patience_seconds: float = PATIENCE_SECONDS
    keeping: Keeping = Keeping()
    on_failure: Opinion = Opinion.NONE
    conditions: tuple[str, ...] = ()


class Part(NamedTuple):
    """One authorizer."""

    type: str
    name: str
    webhook: WebhookSettings | None = None


Configuration = tuple[Part, ...]


def load(file: Path) -> Configuration:
    """The configuration in a file. Raises ConfigError, which names the file and the fields."""
    try:
        text = file.read_bytes()
    except OSError as cause:
        raise ConfigError(f"--authorization-config {file} cannot be read: {cause.strerror}") from cause
    return parse(text, file)


def parse(text: bytes, file: Path) -> Configuration:
    """The configuration in a text that came from `file`. Raises ConfigError."""
    from hardpoint.apiserver.authorization import validation  # Most clusters have no such file.
    from hardpoint.machinery import configfile

    try:
        value = configfile.decode(text, kind=KIND, versions=VERSIONS, fields=_FIELDS)
        wrong = validation.configuration(value.get("authorizers", []))
        if wrong:
            raise ConfigError("; ".join(wrong))
    except ConfigError as cause:
        raise ConfigError(f"--authorization-config {file}: {cause}") from cause
    return tuple(_part(each) for each in value["authorizers"])


def from_options(given: AuthorizationOptions) -> Configuration:
    """The configuration that the flags stand for, or that is in the file they name. Raises ConfigError."""
    if given.config_file is not None:
        return load(given.config_file)
    return tuple(_from_flag(mode, given.webhook) for mode in given.modes)


def _from_flag(mode: str, webhook: WebhookOptions | None) -> Part:
    if mode != options.WEBHOOK:
        return Part(mode, mode.lower())
    if webhook is None:
        raise ConfigError("--authorization-mode Webhook needs --authorization-webhook-config-file")
    keeping = Keeping(webhook.allowed_seconds, webhook.other_seconds)
    return Part(mode, FLAGS_WEBHOOK_NAME, WebhookSettings(webhook.config_file, webhook.version, keeping=keeping))


def _part(value: Json) -> Part:
    webhook = value.get("webhook")
    return Part(value["type"], value["name"], None if webhook is None else _settings(webhook))


def _settings(webhook: Json) -> WebhookSettings:
    return WebhookSettings(
        kubeconfig=Path(webhook["connectionInfo"]["kubeConfigFile"]),
        version=webhook["subjectAccessReviewVersion"],
        patience_seconds=_seconds(webhook["timeout"]),
        keeping=Keeping(
            _seconds(webhook.get("authorizedTTL") or "5m") if webhook.get("cacheAuthorizedRequests", True) else 0.0,
            _seconds(webhook.get("unauthorizedTTL") or "30s")
            if webhook.get("cacheUnauthorizedRequests", True)
            else 0.0,
        ),
        on_failure=Opinion.DENY if webhook["failurePolicy"] == "Deny" else Opinion.NONE,
        conditions=tuple(condition["expression"] for condition in webhook.get("matchConditions", ())),
    )


def _kept(webhook: Json, which: str, default: str) -> float:
    if not webhook.get(f"cache{which}Requests", True):
        return 0.0
    # Zero is no time at all only where keeping is switched off; else it is what was left out.
    return _seconds(webhook.get(f"{which.lower()}TTL", "")) or _seconds(default)


def _seconds(text: str) -> float:
    from hardpoint.machinery import durations

    return durations.parse(text) / 10**9 if text else 0.0
