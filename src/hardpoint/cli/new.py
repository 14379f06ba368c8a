"""`hardpoint new`: the source of an extension, to start from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from hardpoint.cli import options
from hardpoint.machinery.errors import ConfigError

SEAMS = ("crd",)
EXAMPLES = """\b
Examples:
  hardpoint new crd certificates --from crd.yaml > certificates.py
  kubectl get crd certificates.cert-manager.io -o yaml | hardpoint new crd certificates --from -
"""


@click.command("new", epilog=EXAMPLES)
@click.argument("seam", type=click.Choice(SEAMS), metavar="SEAM")
@click.argument("name")
@click.option(
    "--from",
    "origin",
    type=options.FILE,
    required=True,
    metavar="FILE",
    help="The CustomResourceDefinition, in YAML or JSON; - reads it from stdin.",
)
def command(*, seam: str, name: str, origin: Path) -> None:
    """Print a Python file for SEAM, with an App called NAME. For crd: the classes of a definition that exists."""
    from hardpoint.sdk.app import App
    from hardpoint.seams.crd.guest.source import source

    try:
        App(name)
    except ConfigError:
        raise ConfigError(
            f"{name!r} is no name for an App; use up to 63 lower-case letters, digits and dashes"
        ) from None
    click.echo(source(_definition(str(origin)), name), nl=False)


def _definition(file: str) -> dict[str, Any]:
    """The one CustomResourceDefinition among the documents of a file."""
    from hardpoint.sdk.objectfiles import read_definitions

    found = read_definitions(file)
    if len(found) != 1:
        names = ", ".join(definition["metadata"]["name"] for definition in found)
        raise ConfigError(f"{file} must hold one CustomResourceDefinition; there is {names}")
    return found[0]
