"""`hardpoint run`: run the extensions of a file."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hardpoint.cli import options, printing
from hardpoint.cli.reaching import Reach
from hardpoint.machinery.errors import ConfigError

if TYPE_CHECKING:
    from hardpoint.cli import logs
    from hardpoint.sdk.certificates import Trust
    from hardpoint.sdk.loading import Loaded
    from hardpoint.sdk.running import Running
    from hardpoint.sdk.serving import Place, Served

EXAMPLES = """\b
Examples:
  hardpoint run users.py --write-config ./webhooks
  hardpoint up --authentication-token-webhook-config-file ./webhooks/authentication.yaml
  hardpoint run crontabs.py --dev                       reload on save
  hardpoint run crontabs.py --dry-run                   tell what would be written
  hardpoint run users.py --bind-address 0.0.0.0 --hostname users.example.com
"""


@click.command("run", epilog=EXAMPLES)
@click.argument("targets", nargs=-1, required=True, metavar="TARGET...")
@click.option(
    "--bind-address",
    default="127.0.0.1",
    show_default=True,
    callback=options.check_address,
    help="The IP address to listen on.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=None,
    metavar="PORT",
    show_default="9443 if free, else any",
    help="The port to listen on; 0 takes any free one.",
)
@click.option("--hostname", default="", metavar="NAME", help="What the cluster calls this server.")
@click.option(
    "--write-config",
    type=options.FILE,
    metavar="DIR",
    help="Write for each webhook the file that tells an API server where it is, as DIR/SEAM.yaml.",
)
@click.option(
    "--cert-dir",
    type=options.FILE,
    metavar="DIR",
    show_default="$XDG_DATA_HOME/hardpoint/apps/APP",
    help="Where its certificates are kept, and issued if need be.",
)
@click.option("--tls-cert-file", type=options.FILE, metavar="FILE", help="A certificate of your own, with its chain.")
@click.option("--tls-private-key-file", type=options.FILE, metavar="FILE", help="The key of that certificate.")
@click.option("--client-ca-file", type=options.FILE, metavar="FILE", help="Whose certificates callers must show.")
@click.option("--allow-any-client", is_flag=True, help="Let callers in that show no certificate.")
@click.option(
    "--kubeconfig",
    type=options.FILE,
    metavar="FILE",
    show_default="as kubectl finds it",
    help="How the cluster is reached that controllers work in.",
)
@click.option("--context", default="", metavar="NAME", show_default="the current one", help="Which of its contexts.")
@click.option("-n", "--namespace", default="", metavar="NAME", help="The only namespace that controllers look at.")
@click.option("--crds/--no-crds", default=True, help="Whether to apply the definitions of the file's resources first.")
@click.option("--leader-elect/--no-leader-elect", default=False, help="Let one of several processes work at a time.")
@click.option(
    "--shards",
    type=click.IntRange(min=1),
    metavar="N",
    help="Let several processes share the objects, in N parts; all must say the same N.",
)
@click.option("--dry-run", is_flag=True, help="Have the server check every write, and tell it instead of doing it.")
@click.option(
    "--metrics-bind-address",
    default="0",
    metavar="HOST:PORT",
    show_default="none",
    help="Where /metrics of controllers is served, over plain HTTP; :PORT is every address.",
)
@click.option(
    "--health-probe-bind-address",
    default="0",
    metavar="HOST:PORT",
    show_default="none",
    help="Where /healthz and /readyz of controllers are served.",
)
@click.option("--log-format", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("--dev", is_flag=True, help="Load the files again whenever one of them is saved.")
def command(
    *,
    targets: tuple[str, ...],
    bind_address: str,
    port: int | None,
    hostname: str,
    write_config: Path | None,
    cert_dir: Path | None,
    tls_cert_file: Path | None,
    tls_private_key_file: Path | None,
    client_ca_file: Path | None,
    allow_any_client: bool,
    kubeconfig: Path | None,
    context: str,
    namespace: str,
    crds: bool,
    leader_elect: bool,
    shards: int | None,
    dry_run: bool,
    metrics_bind_address: str,
    health_probe_bind_address: str,
    log_format: logs.Format,
    dev: bool,
) -> None:
    """Run the extensions that TARGETs hold: a FILE.py or a MODULE, or FILE.py:NAME where there are several Apps.

    Webhooks are served over TLS to callers with a certificate, which --write-config writes down for a cluster.
    Controllers work in the cluster that kubectl would talk to. It runs until Ctrl-C; what is under way is finished.
    """
    import socket

    from hardpoint.cli import logs
    from hardpoint.datadir import default_data_dir
    from hardpoint.sdk.certificates import Trust
    from hardpoint.sdk.loading import load
    from hardpoint.sdk.serving import Place

    if leader_elect and shards:
        raise click.UsageError("--leader-elect and --shards exclude each other: with shards, nobody leads")
    if allow_any_client and client_ca_file is not None:
        raise click.UsageError("--client-ca-file and --allow-any-client exclude each other")
    loaded = [load(target) for target in targets]
    if not any(one.app.webhooks or one.app.controllers or one.app.resources for one in loaded):
        raise ConfigError(_nothing_to_run(targets, loaded))
    trust = Trust(
        directory=cert_dir or default_data_dir().parent / "apps" / loaded[0].app.name,
        names=(socket.gethostname(), bind_address, hostname),
        certificate=tls_cert_file,
        key=tls_private_key_file,
        client_ca=client_ca_file,
        admits_anyone=allow_any_client,
    )
    reach = Reach(
        kubeconfig=kubeconfig,
        context=context,
        namespace=namespace,
        crds=crds,
        dry_run=dry_run,
        leader_elect=leader_elect,
        shards=shards or 0,
        metrics_address=metrics_bind_address,
        health_address=health_probe_bind_address,
    )
    logs.to_stderr(form=log_format)
    _Run(targets, loaded, trust, Place(bind_address, port, hostname), write_config, reach, dev).until_stopped()


@dataclass(slots=True)
class _Run:
    """One run, until it is stopped."""

    targets: tuple[str, ...]
    loaded: list[Loaded]
    trust: Trust
    place: Place
    write_config: Path | None
    reach: Reach
    dev: bool

    def until_stopped(self) -> None:
        import asyncio

        from hardpoint.cli import serving

        if any(one.app.webhooks or one.app.controllers for one in self.loaded):
            serving.run_until_stopped(self._running, self._announce)
        else:
            asyncio.run(self._install())

    async def _install(self) -> None:
        """Definitions alone are there, once they are there."""
        async with self._running() as found:
            self._announce(found)

    @asynccontextmanager
    async def _running(self) -> AsyncIterator[Running]:
        import asyncio

        from hardpoint.sdk.reloading import reload_on_save
        from hardpoint.sdk.running import Webhooks, running

        apps = [one.app for one in self.loaded]
        async with AsyncExitStack() as stack:
            cluster = await self.reach.enter(apps, stack) if self.reach.is_needed(apps) else None
            webhooks = Webhooks(self.trust, self.place, self._write_configs)
            found = await stack.enter_async_context(running(apps, webhooks, cluster))
            if not self.dev:
                yield found
                return
            reloading = asyncio.create_task(reload_on_save(self.targets, self.loaded, found.replace), name="reload")
            try:
                yield found
            finally:
                reloading.cancel()
                await asyncio.wait([reloading])

    def _announce(self, found: Running) -> None:
        for name in found.installed:
            click.echo(f"{name} is established.", err=True)
        if found.served is not None:
            self._announce_webhooks(found.served)

    def _announce_webhooks(self, served: Served) -> None:
        """Say where the webhooks are. The files are written first: whoever reads an address can use them."""
        written = self._write_configs(served)
        printing.print_aligned({title: served.url(guest) for title, guest in served.guests.items()})
        sys.stdout.flush()
        told = {title: guest.flag for title, guest in served.guests.items() if guest.flag}
        for title, flag in told.items():
            if title in written:
                click.echo(f"Tell an API server of it with {flag} {written[title]}", err=True)
        if told and not written:
            click.echo("--write-config DIR writes the files that tell an API server of it.", err=True)

    def _write_configs(self, served: Served) -> dict[str, Path]:
        from hardpoint.sdk.serving import write_configs

        return {} if self.write_config is None else write_configs(served, self.write_config)


def _nothing_to_run(targets: tuple[str, ...], loaded: list[Loaded]) -> str:
    if any(one.app.credential_plugin for one in loaded):
        return f"{targets[0]} is a credential plugin, which clients run: `hardpoint credential {targets[0]}`"
    return f"{targets[0]} registers nothing to run; put @app.authenticator or the like on a function"
