"""The flags about authorization, with kube-apiserver's names."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hardpoint.cli.collecting import collected

if TYPE_CHECKING:
    from hardpoint.apiserver.authorization.options import AuthorizationOptions, WebhookOptions

_FILE = click.Path(path_type=Path, dir_okay=False)
_IN_FILES = (
    click.option(
        "--authorization-config",
        type=_FILE,
        help="An AuthorizationConfiguration: who decides what users may do. It is read again when it changes.",
    ),
)
_REST = (
    click.option(
        "--authorization-mode",
        metavar="MODE[,MODE]",
        help="Who decides what users may do, in order: Node, RBAC, Webhook, ABAC, AlwaysAllow, AlwaysDeny."
        "  [default: Node,RBAC]",
    ),
    click.option(
        "--authorization-webhook-config-file", type=_FILE, help="Where the webhook is, in the form of a kubeconfig."
    ),
    click.option(
        "--authorization-webhook-version",
        type=click.Choice(["v1", "v1beta1"]),
        help="The version of the SubjectAccessReview it is asked with.  [default: v1beta1]",
    ),
    click.option(
        "--authorization-webhook-cache-authorized-ttl", metavar="TIME", help="How long a yes is kept.  [default: 5m]"
    ),
    click.option(
        "--authorization-webhook-cache-unauthorized-ttl",
        metavar="TIME",
        help="How long any other answer is kept.  [default: 30s]",
    ),
    click.option("--authorization-policy-file", type=_FILE, help="The policies of ABAC, one JSON object a line."),
)
_WEBHOOK = "authorization_webhook_"


def _options(given: dict[str, Any]) -> AuthorizationOptions:
    from hardpoint.apiserver.authorization.options import AuthorizationOptions, parse_modes
    from hardpoint.machinery.errors import ConfigError

    policy_file, file = given.get("authorization_policy_file"), given["authorization_config"]
    if file is None:
        modes = parse_modes(given.get("authorization_mode") or "Node,RBAC")
        return AuthorizationOptions(modes=modes, webhook=_webhook(given), policy_file=policy_file)
    if given.get("authorization_mode") or _says_something(given):
        message = "--authorization-config cannot be given with --authorization-mode or --authorization-webhook-*"
        raise ConfigError(f"{message}; say it all in {file}")
    return AuthorizationOptions(config_file=file, policy_file=policy_file)


def _says_something(given: dict[str, Any]) -> bool:
    return any(value is not None for name, value in given.items() if name.startswith(_WEBHOOK))


def _webhook(given: dict[str, Any]) -> WebhookOptions | None:
    from hardpoint.apiserver.authorization.options import WebhookOptions
    from hardpoint.machinery.errors import ConfigError

    file = given.get(f"{_WEBHOOK}config_file")
    if file is None:
        if _says_something(given):
            raise ConfigError("--authorization-webhook-* needs --authorization-webhook-config-file")
        return None
    return WebhookOptions(
        file,
        version=given[f"{_WEBHOOK}version"] or "v1beta1",
        allowed_seconds=_seconds("authorized", given[f"{_WEBHOOK}cache_authorized_ttl"] or "5m"),
        other_seconds=_seconds("unauthorized", given[f"{_WEBHOOK}cache_unauthorized_ttl"] or "30s"),
    )


def _seconds(which: str, text: str) -> float:
    from hardpoint.machinery import durations
    from hardpoint.machinery.errors import ConfigError

    try:
        nanoseconds = durations.parse(text)
    except durations.BadDuration as wrong:
        raise ConfigError(f"--authorization-webhook-cache-{which}-ttl: {wrong}; write it like 5m or 30s") from wrong
    if nanoseconds < 0:
        raise ConfigError(f"--authorization-webhook-cache-{which}-ttl: {text} is less than no time")
    return nanoseconds / 10**9


file_flags = collected(_IN_FILES, "authorization", _options)
"""Those that name a configuration. The command gets `authorization`."""
flags = collected((*_IN_FILES, *_REST), "authorization", _options)
"""All of them. The command gets `authorization`."""
