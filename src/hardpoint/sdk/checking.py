"""Driving a seam's conformance kit against whatever somebody names: a file with an App, an address, or a program."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hardpoint.client.credentials import ANONYMOUS, ClientCertificate, Credentials, FixedCredentials, Proof
from hardpoint.client.endpoint import Endpoint, from_kubeconfig
from hardpoint.client.kubeconfig import load as load_kubeconfig
from hardpoint.client.webhook import endpoint_at
from hardpoint.machinery.errors import ConfigError
from hardpoint.runtime.promises import Finding, Promises
from hardpoint.runtime.webhookpromises import Caller
from hardpoint.sdk.certificates import Trust
from hardpoint.sdk.loading import load
from hardpoint.sdk.serving import Place, serving, write_configs
from hardpoint.sdk.trials import Given, check_controller, check_definitions
from hardpoint.seams.audit import check as audit
from hardpoint.seams.authentication import check as authentication
from hardpoint.seams.authorization import check as authorization
from hardpoint.seams.credential import check as credential

WEBHOOKS: Mapping[str, tuple[Promises[Caller], dict[str, Any]]] = {
    "authentication": (authentication.promises, authentication.SAMPLE),
    "authorization": (authorization.promises, authorization.SAMPLE),
    "audit": (audit.promises, audit.SAMPLE),
}
TRIALS = ("crd", "controller")


@dataclass(frozen=True, slots=True)
class Access:
    """How a webhook at an address is reached, and what the kit may use."""

    ca_pem: bytes | None = None
    certificate: ClientCertificate | None = None
    settings: Mapping[str, str] = field(default_factory=dict, repr=False)


async def check(
    seam: str, target: str, arguments: Sequence[str], access: Access, given: Given | None = None
) -> AsyncIterator[Finding]:
    """What becomes of each promise of `seam`. Raises ConfigError if `target` cannot be looked at at all.

    `given` is for the seams in TRIALS, which need a cluster.
    """
    if seam in TRIALS:
        assert given is not None, "these need a cluster"
        on_trial = check_definitions(target, given) if seam == "crd" else check_controller(target, arguments, given)
        async for finding in on_trial:
            yield finding
        return
    if seam == "credential":
        async for finding in credential.promises.findings(credential.Program(_command(target, arguments))):
            yield finding
        return
    promises, sample = WEBHOOKS[seam]
    async with _reached(seam, target, access) as endpoints:
        for endpoint in endpoints:
            caller = Caller(endpoint, sample, settings=access.settings)
            try:
                async for finding in promises.findings(caller):
                    yield finding
            finally:
                await caller.close()


def _command(target: str, arguments: Sequence[str]) -> list[str]:
    if not target.endswith(".py"):
        return [target, *arguments]
    if load(target).app.credential_plugin is None:
        raise ConfigError(f"{target} holds no credential plugin; put @app.credential on a function")
    return [sys.executable, "-m", "hardpoint.cli", "credential", target]


@asynccontextmanager
async def _reached(seam: str, target: str, access: Access) -> AsyncIterator[list[Endpoint]]:
    """Where the guests are; those of an App are served meanwhile."""
    if "://" in target:
        yield [endpoint_at(target, ca_pem=access.ca_pem, credentials=_credentials(access))]
    elif target.endswith((".yaml", ".yml", ".kubeconfig")):
        yield [_endpoint(Path(target))]
    else:
        app = load(target).app
        if all(guest.seam != seam for guest in app.webhooks.values()):
            has = ", ".join(sorted({guest.seam for guest in app.webhooks.values()})) or "none"
            raise ConfigError(f"{target} has no guest for the seam {seam} (it has: {has})")
        with tempfile.TemporaryDirectory(prefix="hardpoint-check-") as folder:
            async with serving([app], Trust(Path(folder) / "pki"), Place(port=0)) as served:
                files = write_configs(served, Path(folder) / "configs")
                yield [_endpoint(file) for title, file in files.items() if served.guests[title].seam == seam]


def _endpoint(file: Path) -> Endpoint:
    return from_kubeconfig(load_kubeconfig(file))


def _credentials(access: Access) -> Credentials:
    return FixedCredentials(Proof(certificate=access.certificate)) if access.certificate else ANONYMOUS
