"""The authorizers that the options ask for, put in their order. Members of `system:masters` are never asked further."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from hardpoint.apiserver.authorization import options
from hardpoint.apiserver.authorization.always import AlwaysAllow, AlwaysDeny
from hardpoint.apiserver.authorization.chain import Authorization, Named
from hardpoint.apiserver.authorization.masters import Masters
from hardpoint.apiserver.authorization.node import NodeAuthorizer
from hardpoint.apiserver.authorization.options import AuthorizationOptions
from hardpoint.apiserver.authorization.rbac.authorizer import Rbac
from hardpoint.apiserver.hub import Hub
from hardpoint.store.contract import Store


@dataclass(frozen=True, slots=True)
class Material:
    """What authorizers are made from."""

    options: AuthorizationOptions
    hub: Hub
    store: Store
    rbac: Rbac


def _node(material: Material) -> Named:
    nodes = NodeAuthorizer(material.hub, material.store)
    return Named("node", nodes, lists=nodes)


def _rbac(material: Material) -> Named:
    return Named("rbac", material.rbac, lists=material.rbac)


def _always_allow(material: Material) -> Named:
    allows = AlwaysAllow()
    return Named("alwaysallow", allows, lists=allows)


def _always_deny(material: Material) -> Named:
    denies = AlwaysDeny()
    return Named("alwaysdeny", denies, lists=denies)


_MAKERS: Mapping[str, Callable[[Material], Named]] = {
    options.NODE: _node,
    options.RBAC: _rbac,
    options.ALWAYS_ALLOW: _always_allow,
    options.ALWAYS_DENY: _always_deny,
}


def authorizers(material: Material) -> Authorization:
    """Asks what the options name, in their order. Roles are followed in any case: who gives them must hold them."""
    asked = [_MAKERS[mode](material) for mode in material.options.modes]
    masters = Named("kubernetes.io/system-privileged-group", Masters(), load=material.rbac.load)
    return Authorization([masters, *asked])
