"""Reaching the cluster that an App's controllers work in, and saying so."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from hardpoint.sdk.app import App
    from hardpoint.sdk.controlling import Control, Lease
    from hardpoint.sdk.running import Cluster


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """The cluster that controllers work in, and how."""

    kubeconfig: Path | None
    context: str
    namespace: str
    crds: bool
    dry_run: bool
    leader_elect: bool
    shards: int
    metrics_address: str
    health_address: str

    def is_needed(self, apps: Sequence[App]) -> bool:
        return any(app.controllers or (self.crds and app.resources) for app in apps)

    async def enter(self, apps: Sequence[App], stack: AsyncExitStack) -> Cluster:
        """Connect, until the stack is left. Whoever mistyped an address hears of it now, not by nothing happening."""
        from hardpoint.client.client import Client
        from hardpoint.client.endpoint import find_endpoint
        from hardpoint.runtime.telemetryrequests import observing
        from hardpoint.sdk.running import Cluster
        from hardpoint.seams.credential.host import ExecPlugins

        plugins = ExecPlugins()
        url = find_endpoint(self.kubeconfig, self.context, plugins=plugins).url
        control = self._control()
        client = Client.from_kubeconfig(
            self.kubeconfig,
            context=self.context,
            plugins=plugins,
            user_agent=apps[0].name,
            wrap=observing(control.metrics),
        )
        await stack.enter_async_context(client)
        await client.discovery.kinds()
        for guest in (guest for app in apps for guest in app.controllers.values()):
            click.echo(f"{guest.app}: {guest.name} works on {guest.resource.title} at {url}", err=True)
        if self.leader_elect or self.shards:
            control = replace(control, lease=_lease(self.namespace or client.namespace, apps[0].name))
        return Cluster(client, control, self.crds, self.metrics_address, self.health_address)

    def _control(self) -> Control:
        from hardpoint.sdk.controlling import Control

        return Control(namespace=self.namespace, dry_run=self.dry_run, shards=self.shards)


def _lease(namespace: str, name: str) -> Lease:
    from hardpoint.runtime.electionlease import new_identity
    from hardpoint.sdk.controlling import Lease

    return Lease(namespace, name, new_identity())
