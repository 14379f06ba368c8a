"""What a user can say about authorization: which authorizers are asked, and in which order."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from hardpoint.machinery.errors import ConfigError

if TYPE_CHECKING:
    from hardpoint.seams.authorization.contract import Version

NODE, RBAC, ALWAYS_ALLOW, ALWAYS_DENY, ABAC, WEBHOOK = "Node", "RBAC", "AlwaysAllow", "AlwaysDeny", "ABAC", "Webhook"
MODES = (NODE, RBAC, WEBHOOK, ABAC, ALWAYS_ALLOW, ALWAYS_DENY)
"""kube-apiserver's names for them."""


class WebhookOptions(NamedTuple):
    """The one webhook that flags can describe; a configuration file can describe several, and say more."""

    config_file: Path
    """A file in the form of a kubeconfig, whose cluster is the webhook."""
    version: Version = "v1beta1"
    allowed_seconds: float = 300.0
    """How long a yes is kept; zero is not at all."""
    other_seconds: float = 30.0


@dataclass(frozen=True, slots=True)
class AuthorizationOptions:
    """The default is what kubeadm sets up: nodes may do what their pods need, everybody else what roles say."""

    modes: tuple[str, ...] = (NODE, RBAC)
    webhook: WebhookOptions | None = None
    policy_file: Path | None = None
    """The policies of ABAC."""
    config_file: Path | None = None
    """An AuthorizationConfiguration, which is read again when it changes; then modes and webhook say nothing."""

    def __post_init__(self) -> None:
        if self.config_file is not None:
            return
        if (WEBHOOK in self.modes) is not (self.webhook is not None):
            raise ConfigError("--authorization-mode Webhook and --authorization-webhook-config-file go together")
        if (ABAC in self.modes) is not (self.policy_file is not None):
            raise ConfigError("--authorization-mode ABAC and --authorization-policy-file go together")


def parse_modes(text: str) -> tuple[str, ...]:
    """The modes in a list with commas. Raises ConfigError."""
    modes = tuple(part.strip() for part in text.split(","))
    for mode in modes:
        if mode not in MODES:
            raise ConfigError(f"--authorization-mode: there is no {mode!r}; choose from {', '.join(MODES)}")
    if len(set(modes)) < len(modes):
        raise ConfigError(f"--authorization-mode: {text} names a mode twice; each is asked once")
    return modes
