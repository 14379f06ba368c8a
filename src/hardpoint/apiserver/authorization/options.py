"""What a user can say about authorization: which authorizers are asked, and in which order."""

from __future__ import annotations

from dataclasses import dataclass

from hardpoint.machinery.errors import ConfigError

NODE, RBAC, ALWAYS_ALLOW, ALWAYS_DENY = "Node", "RBAC", "AlwaysAllow", "AlwaysDeny"
MODES = (NODE, RBAC, ALWAYS_ALLOW, ALWAYS_DENY)
"""kube-apiserver's names for them. It has ABAC too, which reads a file of its own kind; roles say the same."""


@dataclass(frozen=True, slots=True)
class AuthorizationOptions:
    """The default is what kubeadm sets up: nodes may do what their pods need, everybody else what roles say."""

    modes: tuple[str, ...] = (NODE, RBAC)


def parse_modes(text: str) -> tuple[str, ...]:
    """The modes in a list with commas. Raises ConfigError."""
    modes = tuple(part.strip() for part in text.split(","))
    for mode in modes:
        if mode not in MODES:
            raise ConfigError(f"--authorization-mode: there is no {mode!r}; choose from {', '.join(MODES)}")
    if len(set(modes)) < len(modes):
        raise ConfigError(f"--authorization-mode: {text} names a mode twice; each is asked once")
    return modes
