"""`hardpoint controller-manager`: the controllers alone, against any cluster."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import click

from hardpoint.cli import options

EXAMPLES = """\b
Examples:
  hardpoint controller-manager
  hardpoint controller-manager --kubeconfig admin.conf --root-ca-file ca.crt
"""


@click.command("controller-manager", epilog=EXAMPLES)
@click.option(
    "--kubeconfig",
    type=options.FILE,
    metavar="FILE",
    show_default="as kubectl finds it",
    help="How the cluster is reached.",
)
@click.option("--context", default="", metavar="NAME", show_default="the current one", help="Which of its contexts.")
@click.option(
    "--root-ca-file",
    type=options.FILE,
    metavar="FILE",
    show_default="the authority in the kubeconfig",
    help="What the ConfigMap kube-root-ca.crt of each namespace holds.",
)
def command(*, kubeconfig: Path | None, context: str, root_ca_file: Path | None) -> None:
    """Run the controllers that every cluster needs.

    They delete what has lost its owners and empty namespaces that are deleted, and give each namespace its
    ServiceAccount `default` and its ConfigMap `kube-root-ca.crt`. They run until Ctrl-C.
    """
    from hardpoint.cli import logs, serving
    from hardpoint.client.client import Client
    from hardpoint.client.endpoint import find_endpoint
    from hardpoint.controllers.manager import ControllerManager

    endpoint = find_endpoint(kubeconfig, context)
    root_ca = root_ca_file.read_bytes() if root_ca_file is not None else endpoint.ca_pem or b""

    @asynccontextmanager
    async def running() -> AsyncIterator[str]:
        async with Client.from_kubeconfig(kubeconfig, context=context) as client:
            # Whoever mistyped an address hears of it now, not by nothing happening.
            await client.discovery.kinds()
            async with ControllerManager(client, root_ca=root_ca.decode()).running():
                yield endpoint.url

    logs.to_stderr()
    serving.run_until_stopped(running, click.echo)
