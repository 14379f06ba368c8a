"""`hardpoint new`: the source of an extension, to start from."""

from __future__ import annotations

import sys
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
    text = sys.stdin.buffer.read() if str(origin) == "-" else origin.read_bytes()
    click.echo(source(_definition(text, origin), name), nl=False)


def _definition(text: bytes, origin: Path) -> dict[str, Any]:
    """The one CustomResourceDefinition among the documents of a file."""
    import yaml

    try:
        documents = [found for found in yaml.safe_load_all(text) if isinstance(found, dict)]
    except yaml.YAMLError as wrong:
        raise ConfigError(f"{origin} is no YAML: {' '.join(str(wrong).split())}") from wrong
    found = [document for document in documents if document.get("kind") == "CustomResourceDefinition"]
    if len(found) != 1:
        names = ", ".join(str(document.get("metadata", {}).get("name")) for document in found) or "none"
        raise ConfigError(f"{origin} must hold one CustomResourceDefinition; there is {names}")
    return found[0]
