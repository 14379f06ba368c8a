"""The controllers a bare API server cannot do without, run together over one view of the cluster's metadata."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from types import MappingProxyType

from hardpoint.client.client import Client
from hardpoint.controllers.cluster_role_aggregation import ClusterRoleAggregation
from hardpoint.controllers.csr_approving import CsrApproving
from hardpoint.controllers.csr_cleaner import CsrCleaner
from hardpoint.controllers.csr_signing import CsrSigning
from hardpoint.controllers.garbage_collector import GarbageCollector
from hardpoint.controllers.namespaces import NamespaceDeletion
from hardpoint.controllers.root_ca import RootCa
from hardpoint.controllers.service_account_tokens import ServiceAccountTokens, Sign
from hardpoint.controllers.service_accounts import ServiceAccounts
from hardpoint.runtime.metadata import MetadataFollower
from hardpoint.serving.certificates import Authority


class ControllerManager:
    """Garbage collection, namespaces and what each has, certificates, aggregated roles, for the cluster of `client`.

    Several may run for the same cluster: each step is conditional on what it was decided on.
    """

    def __init__(
        self,
        client: Client,
        *,
        root_ca: str = "",
        authorities: Mapping[str, Authority] = MappingProxyType({}),
        sign_token: Sign | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """`root_ca` is what `kube-root-ca.crt` holds; without it, nobody publishes one.

        `authorities` sign certificates, by the names of the signers they stand for; others are left to others.
        `sign_token` makes the tokens that Secrets hold; without it they stay empty.
        """
        self.follower = MetadataFollower(client)
        self.garbage_collector = GarbageCollector(client, self.follower)
        self.namespaces = NamespaceDeletion(client, self.follower, now=now)
        self.service_accounts = ServiceAccounts(client, self.follower)
        self.cluster_roles = ClusterRoleAggregation(client, self.follower)
        self.root_ca = RootCa(client, self.follower, root_ca) if root_ca else None
        self.tokens = ServiceAccountTokens(client, self.follower, sign_token, root_ca) if sign_token else None
        self.signing_requests = (
            CsrApproving(client, self.follower, now=now),
            CsrSigning(client, self.follower, authorities, now=now),
            CsrCleaner(client, self.follower, now=now),
        )

    async def run(self) -> None:
        """Work until cancelled."""
        controllers = (
            self.garbage_collector,
            self.namespaces,
            self.service_accounts,
            self.cluster_roles,
            self.root_ca,
            self.tokens,
            *self.signing_requests,
        )
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self.follower.run(), name="metadata")
            for controller in controllers:
                if controller is not None:
                    tasks.create_task(controller.run(), name=type(controller).__name__)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[ControllerManager]:
        """Work until left. Entering waits for nothing."""
        async with asyncio.TaskGroup() as tasks:
            running = tasks.create_task(self.run(), name="controller-manager")
            try:
                yield self
            finally:
                running.cancel()
