"""`hardpoint manifests`: the YAML that deploys the extensions of a file."""

from __future__ import annotations

from pathlib import Path

import click

from hardpoint import __version__
from hardpoint.cli import options
from hardpoint.machinery.errors import ConfigError

EXAMPLES = """\b
Examples:
  hardpoint manifests users.py --namespace auth --write-config webhooks | kubectl apply -f -
  hardpoint manifests company.webhooks:app --image company-webhooks:1
"""


@click.command("manifests", epilog=EXAMPLES)
@click.argument("targets", nargs=-1, required=True, metavar="TARGET...")
@click.option(
    "--image",
    default=f"hardpoint:{__version__}",
    show_default=True,
    metavar="IMAGE",
    help="An image with hardpoint as its entry point.",
)
@click.option("-n", "--namespace", default="default", show_default=True, help="The namespace, which must exist.")
@click.option(
    "--write-config",
    type=options.FILE,
    metavar="DIR",
    help="Write for each webhook the file that tells an API server where it will be, as DIR/SEAM.yaml.",
)
@click.option(
    "--cert-dir",
    type=options.FILE,
    metavar="DIR",
    show_default="$XDG_DATA_HOME/hardpoint/apps/APP.NAMESPACE",
    help="Where its certificates are kept, and issued if need be.",
)
def command(
    *, targets: tuple[str, ...], image: str, namespace: str, write_config: Path | None, cert_dir: Path | None
) -> None:
    """Print the objects that deploy what TARGETs hold, ready for `kubectl apply`.

    A Secret among them holds the server's key. The same key is printed every time, from the certificates' folder.
    """
    from datetime import UTC, datetime

    from hardpoint.datadir import default_data_dir
    from hardpoint.machinery import yamltext
    from hardpoint.sdk.deployment import Deployed
    from hardpoint.sdk.loading import load
    from hardpoint.sdk.manifests import manifests, trust_of
    from hardpoint.sdk.serving import Served, write_configs

    loaded = [load(target) for target in targets]
    apps = [one.app for one in loaded]
    if not any(app.webhooks or app.controllers or app.resources for app in apps):
        raise ConfigError(f"{targets[0]} registers nothing that runs in a cluster")
    deployed = Deployed(apps[0].name, namespace, image)
    directory = cert_dir or default_data_dir().parent / "apps" / f"{deployed.name}.{namespace}"
    trust = trust_of(deployed, directory)
    pki = trust.ensured(datetime.now(UTC))
    served = Served(apps, trust, pki)
    served.address = f"https://{deployed.host}"
    objects = manifests(targets, loaded, deployed, pki)
    if write_config is not None:
        for title, file in write_configs(served, write_config).items():
            click.echo(f"Tell an API server of it with {served.guests[title].flag} {file}", err=True)
    click.echo("---\n".join(yamltext.encode(found).decode() for found in objects), nl=False)
