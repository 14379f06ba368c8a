"""Running Apps: their definitions in the cluster, their webhooks served, their controllers at work."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial

from hardpoint.client.client import Client
from hardpoint.runtime.healthserver import NOWHERE, observed
from hardpoint.sdk.app import App
from hardpoint.sdk.certificates import Trust
from hardpoint.sdk.controlling import Control, Controllers, controlling
from hardpoint.sdk.installing import install
from hardpoint.sdk.serving import Place, Served, serving
from hardpoint.serving.health import Health


@dataclass(frozen=True, slots=True)
class Webhooks:
    """How webhooks are served."""

    trust: Trust
    place: Place
    renewed: Callable[[Served], object] = lambda served: None
    """Is told when there are new certificates."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """Which cluster it is about, and what is done there."""

    client: Client
    control: Control
    installs: bool = True
    """Whether the definitions of the Apps' resources are brought in."""
    metrics_address: str = NOWHERE
    health_address: str = NOWHERE
    """Where controllers can be asked how they are; `healthserver.py` says how it is written."""


class Running:
    """What runs."""

    def __init__(self) -> None:
        self.served: Served | None = None
        self.controllers: Controllers | None = None
        self.installed: list[str] = []
        """The definitions that were brought in."""

    def replace(self, apps: Sequence[App]) -> None:
        """Run these Apps from now on, as far as there is a place for what they hold. Raises ConfigError."""
        if self.served is not None:
            self.served.replace(apps)
        if self.controllers is not None:
            self.controllers.replace(apps)


@asynccontextmanager
async def running(apps: Sequence[App], webhooks: Webhooks, cluster: Cluster | None) -> AsyncIterator[Running]:
    """Run Apps until left; what is acknowledged is done by then. Raises ConfigError.

    Without a cluster, only webhooks run. With one, the definitions are established before anything else begins.
    """
    found = Running()
    async with AsyncExitStack() as stack:
        if any(app.webhooks for app in apps):
            serve = serving(apps, webhooks.trust, webhooks.place, renewed=webhooks.renewed)
            found.served = await stack.enter_async_context(serve)
        if cluster is not None:
            found.installed = await _install(cluster, found.served, apps)
            if any(app.controllers for app in apps):
                found.controllers = await _control(apps, cluster, found.served, stack)
        yield found


async def _control(apps: Sequence[App], cluster: Cluster, served: Served | None, stack: AsyncExitStack) -> Controllers:
    installs = partial(_install, cluster, served)
    controllers = await stack.enter_async_context(controlling(apps, cluster.client, cluster.control, installs=installs))
    health = Health()
    health.add("controllers", controllers.check_ready, live=False)
    asked = observed(
        cluster.control.metrics,
        health,
        metrics_address=cluster.metrics_address,
        health_address=cluster.health_address,
    )
    await stack.enter_async_context(asked)
    return controllers


async def _install(cluster: Cluster, served: Served | None, apps: Sequence[App]) -> list[str]:
    with_resources = [app for app in apps if app.resources]
    if not with_resources or not cluster.installs:
        return []
    # Not above: whoever has no resources does not pay for pydantic.
    from hardpoint.sdk.resources import at_address, definitions

    conversion = at_address(served) if served is not None else None
    installed = [
        install(cluster.client, definitions(app, conversion), field_manager=app.name, dry_run=cluster.control.dry_run)
        for app in with_resources
    ]
    return [name for names in await asyncio.gather(*installed) for name in names]
