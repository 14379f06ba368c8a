"""`hardpoint run`: run the extensions of a file."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hardpoint.cli import options, printing
from hardpoint.machinery.errors import ConfigError

if TYPE_CHECKING:
    from hardpoint.sdk.certificates import Trust
    from hardpoint.sdk.loading import Loaded
    from hardpoint.sdk.serving import Place, Served

EXAMPLES = """\b
Examples:
  hardpoint run users.py --write-config ./webhooks
  hardpoint up --authentication-token-webhook-config-file ./webhooks/authentication.yaml
  hardpoint run users.py --dev                          reload on save
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
    dev: bool,
) -> None:
    """Run the extensions that TARGETs hold: a FILE.py or a MODULE, or FILE.py:NAME where there are several Apps.

    Webhooks are served over TLS to callers with a certificate, which --write-config writes down for a cluster. It runs
    until Ctrl-C.
    """
    import socket

    from hardpoint.cli import logs
    from hardpoint.datadir import default_data_dir
    from hardpoint.sdk.certificates import Trust
    from hardpoint.sdk.loading import load
    from hardpoint.sdk.serving import Place

    if allow_any_client and client_ca_file is not None:
        raise click.UsageError("--client-ca-file and --allow-any-client exclude each other")
    loaded = [load(target) for target in targets]
    if not any(one.app.webhooks for one in loaded):
        raise ConfigError(_nothing_to_run(targets, loaded))
    trust = Trust(
        directory=cert_dir or default_data_dir().parent / "apps" / loaded[0].app.name,
        names=(socket.gethostname(), bind_address, hostname),
        certificate=tls_cert_file,
        key=tls_private_key_file,
        client_ca=client_ca_file,
        admits_anyone=allow_any_client,
    )
    logs.to_stderr()
    _Run(targets, loaded, trust, Place(bind_address, port, hostname), write_config, dev).until_stopped()


@dataclass(slots=True)
class _Run:
    """One run, until it is stopped."""

    targets: tuple[str, ...]
    loaded: list[Loaded]
    trust: Trust
    place: Place
    write_config: Path | None
    dev: bool

    def until_stopped(self) -> None:
        from hardpoint.cli import serving

        serving.run_until_stopped(self._running, self._announce)

    @asynccontextmanager
    async def _running(self) -> AsyncIterator[Served]:
        import asyncio

        from hardpoint.sdk.reloading import reload_on_save
        from hardpoint.sdk.serving import serving

        apps = [one.app for one in self.loaded]
        async with serving(apps, self.trust, self.place, renewed=self._write_configs) as served:
            if not self.dev:
                yield served
                return
            reloading = asyncio.create_task(reload_on_save(self.targets, self.loaded, served.replace), name="reload")
            try:
                yield served
            finally:
                reloading.cancel()
                await asyncio.wait([reloading])

    def _announce(self, served: Served) -> None:
        """Say where the webhooks are. The files are written first: whoever reads an address can use them."""
        written = self._write_configs(served)
        printing.print_aligned({title: served.url(guest) for title, guest in served.guests.items()})
        sys.stdout.flush()
        for title, file in written.items():
            click.echo(f"Tell an API server of it with {served.guests[title].flag} {file}", err=True)
        if not written:
            click.echo("--write-config DIR writes the files that tell an API server of it.", err=True)

    def _write_configs(self, served: Served) -> dict[str, Path]:
        from hardpoint.sdk.serving import write_configs

        return {} if self.write_config is None else write_configs(served, self.write_config)


def _nothing_to_run(targets: tuple[str, ...], loaded: list[Loaded]) -> str:
    if any(one.app.credential_plugin for one in loaded):
        return f"{targets[0]} is a credential plugin, which clients run: `hardpoint credential {targets[0]}`"
    return f"{targets[0]} registers nothing to run; put @app.authenticator or the like on a function"
