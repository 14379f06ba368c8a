"""The flags about authorization, with kube-apiserver's names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from hardpoint.cli.collecting import collected

if TYPE_CHECKING:
    from hardpoint.apiserver.authorization.options import AuthorizationOptions

_FLAGS = (
    click.option(
        "--authorization-mode",
        default="Node,RBAC",
        show_default=True,
        metavar="MODE[,MODE]",
        help="Who decides what users may do, in order: Node, RBAC, AlwaysAllow, AlwaysDeny.",
    ),
)


def _options(given: dict[str, Any]) -> AuthorizationOptions:
    from hardpoint.apiserver.authorization.options import AuthorizationOptions, parse_modes

    return AuthorizationOptions(modes=parse_modes(given["authorization_mode"]))


flags = collected(_FLAGS, "authorization", _options)
"""The command gets `authorization`."""
