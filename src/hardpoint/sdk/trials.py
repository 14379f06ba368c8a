"""Checks that need a cluster of their own: of definitions, and of controllers."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hardpoint.client.client import Client
from hardpoint.client.endpoint import Endpoint
from hardpoint.client.webhook import endpoint_at
from hardpoint.machinery.errors import ApiError, ConfigError
from hardpoint.machinery.messages import Handler, User
from hardpoint.machinery.structural.samples import Sampler
from hardpoint.runtime.promises import Finding
from hardpoint.runtime.webhookpromises import Caller
from hardpoint.sdk.certificates import Trust
from hardpoint.sdk.installing import install
from hardpoint.sdk.loading import load
from hardpoint.sdk.objectfiles import read_definitions, read_objects
from hardpoint.sdk.serving import Place, serving

if TYPE_CHECKING:
    from hardpoint.sdk.app import App
    from hardpoint.seams.controller.check import Bench

Json = dict[str, Any]
FreshCluster = Callable[[], AbstractAsyncContextManager[Handler]]

SETTLE_SECONDS = 2.0
PATIENCE_SECONDS = 30.0
PROMISE_SECONDS = 900.0
"""No promise takes longer to look at; most take seconds."""
SAMPLES = ("check-a", "check-b")
TRIES = 40
_ADMIN = User("hardpoint-check", ("system:masters",))
_YAML = (".yaml", ".yml", ".json")


@dataclass(frozen=True, slots=True)
class Given:
    """What such a check is given besides its target."""

    fresh_cluster: FreshCluster
    crds: Sequence[str] = ()
    objects: str = ""
    against: str = ""
    conversion_url: str = ""
    ca_pem: bytes | None = None
    settle_seconds: float = SETTLE_SECONDS
    seed: int = 0


async def check_definitions(target: str, given: Given) -> AsyncIterator[Finding]:
    """What becomes of each promise about the definitions that `target` holds. Raises ConfigError."""
    from hardpoint.seams.crd import check as crd

    older = read_definitions(given.against) if given.against else []
    async with _converted(target, given) as (definitions, endpoint):
        webhook = Caller(endpoint, {}) if endpoint is not None else None
        subject = crd.Subject(definitions, given.fresh_cluster, older, webhook, given.seed)
        try:
            async for finding in crd.promises.findings(subject):
                yield finding
        finally:
            if webhook is not None:
                await webhook.close()


@asynccontextmanager
async def _converted(target: str, given: Given) -> AsyncIterator[tuple[list[Json], Endpoint | None]]:
    """The definitions, and where their webhook is; that of an App is served meanwhile."""
    if target == "-" or target.endswith(_YAML):
        url = given.conversion_url
        yield read_definitions(target), endpoint_at(url, ca_pem=given.ca_pem) if url else None
        return
    from hardpoint.sdk import resources
    from hardpoint.seams.crd.guest.conversion import ConversionGuest

    app = load(target).app
    path = next((guest.path for guest in app.webhooks.values() if isinstance(guest, ConversionGuest)), "")
    if not app.resources:
        raise ConfigError(f"{target} holds no resources; put @app.resource on a class, or name a file of YAML")
    if not path:
        yield resources.definitions(app), None
        return
    with tempfile.TemporaryDirectory(prefix="hardpoint-check-") as folder:
        async with serving([app], Trust(Path(folder) / "pki"), Place(port=0)) as served:
            ca_pem = (Path(folder) / "pki" / "server-ca.crt").read_bytes()
            definitions = resources.definitions(app, resources.at_address(served))
            yield definitions, endpoint_at(f"{served.address}{path}", ca_pem=ca_pem)


async def check_controller(target: str, arguments: Sequence[str], given: Given) -> AsyncIterator[Finding]:
    """What becomes of each promise of the controller that `target` is. Raises ConfigError."""
    from hardpoint.seams.controller import check as controller

    with tempfile.TemporaryDirectory(prefix="hardpoint-check-") as folder:
        bench = await _bench(target, arguments, given, Path(folder))
        async for finding in controller.promises.findings(bench, patience_seconds=PROMISE_SECONDS):
            yield finding


async def _bench(target: str, arguments: Sequence[str], given: Given, folder: Path) -> Bench:
    from hardpoint.seams.controller.check import Bench

    definitions = [each for file in given.crds for each in read_definitions(file)]
    command = [target, *arguments]
    app = _app(target) if not arguments else None
    if app is not None:
        from hardpoint.sdk import resources

        definitions += resources.definitions(app) if app.resources else []
        command = [sys.executable, "-m", "hardpoint.cli", "run", target, "--no-crds", "--port", "0"]
    objects = read_objects(given.objects) if given.objects else await _made_up(definitions, given)
    if not objects:
        raise ConfigError("a controller needs something to work on: name --crds FILE, or --objects FILE")
    return Bench(
        command=command,
        fresh_cluster=given.fresh_cluster,
        folder=folder,
        definitions=definitions,
        objects=objects,
        settle_seconds=given.settle_seconds,
        patience_seconds=max(PATIENCE_SECONDS, 5 * given.settle_seconds),
        seed=given.seed,
    )


def _app(target: str) -> App | None:
    """The App in a file or a module; None for any other program, which is what is found as one."""
    where = target.partition(":")[0]
    if not where.endswith(".py") and ("/" in where or shutil.which(where)):
        return None
    app = load(target).app
    if not app.controllers:
        raise ConfigError(f"{target} holds no controller; put @app.controller on a function")
    return app


async def _made_up(definitions: Sequence[Json], given: Given) -> list[Json]:
    """Two objects of each kind that a server accepts. Raises ConfigError if none is found."""
    made: list[Json] = []
    async with given.fresh_cluster() as handler:
        client = Client.in_process(handler, _ADMIN)
        await install(client, definitions, field_manager="hardpoint-check")
        for definition in definitions:
            made += [await _accepted(client, definition, name, given.seed) for name in SAMPLES]
    return made


async def _accepted(client: Client, definition: Json, name: str, seed: int) -> Json:
    spec = definition["spec"]
    version = next(each for each in spec["versions"] if each.get("storage"))
    schema = (version.get("schema") or {}).get("openAPIV3Schema") or {}
    namespace = "default" if spec["scope"] == "Namespaced" else ""
    said = ""
    for number in range(TRIES):
        sampler = Sampler(schema, seed=f"{seed} {name} {number}", fullness=0.8 if number < TRIES // 2 else 0.2)
        made = sampler.object(f"{spec['group']}/{version['name']}", spec["names"]["kind"], name, namespace=namespace)
        try:
            await client.create(made, dry_run=True)
        except ApiError as refused:
            said = refused.message
        else:
            return made
    raise ConfigError(f"no {spec['names']['kind']} could be made up ({said}); name some with --objects FILE")
