"""The authorizers that a configuration asks for, put in their order.

Members of `system:masters` are never asked further. The authorizers that follow the store are made once, whatever the
configuration becomes; webhooks are made anew.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from hardpoint.apiserver.authorization import options
from hardpoint.apiserver.authorization.always import AlwaysAllow, AlwaysDeny
from hardpoint.apiserver.authorization.chain import Authorization, Named
from hardpoint.apiserver.authorization.configuration import Configuration, Part
from hardpoint.apiserver.authorization.masters import Masters
from hardpoint.apiserver.authorization.metrics import AuthorizationMetrics
from hardpoint.apiserver.authorization.node import NodeAuthorizer
from hardpoint.apiserver.authorization.options import AuthorizationOptions
from hardpoint.apiserver.authorization.rbac.authorizer import Rbac
from hardpoint.apiserver.hub import Hub
from hardpoint.machinery.errors import ConfigError
from hardpoint.store.contract import Store


@dataclass(frozen=True, slots=True)
class Material:
    """What authorizers are made from."""

    options: AuthorizationOptions
    wanted: Configuration
    """What the options say at first; a file may say something else later."""
    hub: Hub
    store: Store
    rbac: Rbac
    metrics: AuthorizationMetrics = field(default_factory=AuthorizationMetrics)
    made: dict[str, Named] = field(default_factory=dict)
    """The authorizers that are made once, by type."""


def authorizers(material: Material) -> Authorization:
    """Asks what is wanted, in its order. Raises ConfigError."""
    masters = Named("kubernetes.io/system-privileged-group", Masters())
    return Authorization(put_together(material.wanted, material), always=masters, metrics=material.metrics)


@asynccontextmanager
async def following(authorization: Authorization, material: Material) -> AsyncIterator[None]:
    """Take over changes of the configuration until left, if it is in a file; then close what was asked."""
    try:
        if (file := material.options.config_file) is None:
            yield
            return
        from hardpoint.apiserver.authorization.reloading import follow  # Few servers have such a file.

        async with asyncio.TaskGroup() as tasks:
            task = tasks.create_task(follow(file, authorization, material), name="authorization configuration")
            try:
                yield
            finally:
                task.cancel()
    finally:
        await authorization.close()


def put_together(wanted: Configuration, material: Material) -> list[Named]:
    """The authorizers of a configuration. Raises ConfigError."""
    return [_webhook(part, material) if part.webhook is not None else _once(part, material) for part in wanted]


def _once(part: Part, material: Material) -> Named:
    if part.type not in material.made:
        material.made[part.type] = _MAKERS[part.type](part, material)
    return material.made[part.type]


def _node(part: Part, material: Material) -> Named:
    nodes = NodeAuthorizer(material.hub, material.store)
    return Named(part.name, nodes, lists=nodes, type=part.type)


def _rbac(part: Part, material: Material) -> Named:
    return Named(part.name, material.rbac, lists=material.rbac, type=part.type)


def _always_allow(part: Part, material: Material) -> Named:
    allows = AlwaysAllow()
    return Named(part.name, allows, lists=allows, type=part.type)


def _always_deny(part: Part, material: Material) -> Named:
    denies = AlwaysDeny()
    return Named(part.name, denies, lists=denies, type=part.type)


def _abac(part: Part, material: Material) -> Named:
    from hardpoint.apiserver.authorization.abac import Abac  # Hardly anybody has it.

    if material.options.policy_file is None:
        raise ConfigError("the authorizer ABAC needs --authorization-policy-file, given when the server starts")
    policies = Abac.from_file(material.options.policy_file)
    return Named(part.name, policies, lists=policies, type=part.type)


_MAKERS: Mapping[str, Callable[[Part, Material], Named]] = {
    options.NODE: _node,
    options.RBAC: _rbac,
    options.ALWAYS_ALLOW: _always_allow,
    options.ALWAYS_DENY: _always_deny,
    options.ABAC: _abac,
}


def _webhook(part: Part, material: Material) -> Named:
    from hardpoint.apiserver.authorization.matching import Matcher, compiled  # Few clusters have one.
    from hardpoint.apiserver.authorization.webhook import WebhookAuthorizer
    from hardpoint.client.webhook import Webhook
    from hardpoint.seams.authorization.host import WebhookReviewer

    settings = part.webhook
    assert settings is not None
    webhook = Webhook.from_kubeconfig("authorization", settings.kubeconfig, name=part.name)
    reviewer = WebhookReviewer(webhook, version=settings.version, patience_seconds=settings.patience_seconds)
    asks = WebhookAuthorizer(
        part.name,
        reviewer,
        on_failure=settings.on_failure,
        matcher=Matcher([compiled(each) for each in settings.conditions]) if settings.conditions else None,
        keeping=settings.keeping,
        metrics=material.metrics,
    )
    return Named(part.name, asks, lists=asks, type=part.type, close=reviewer.close)
