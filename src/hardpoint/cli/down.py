"""`hardpoint down`: stop a cluster."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import click

from hardpoint import datadir
from hardpoint.cli import EXIT_NO, options

_LOOK_AGAIN_SECONDS = 0.02


@click.command("down", epilog="\b\nExample:\n  hardpoint down --data-dir ./demo\n")
@options.data_dir
@click.option(
    "--timeout",
    type=click.FloatRange(min=0),
    default=30.0,
    show_default=True,
    metavar="SECONDS",
    help="How long to wait for it.",
)
def command(*, data_dir: Path, timeout: float) -> None:
    """Stop the cluster of a data directory.

    Requests that have begun are answered and everything written is kept. Nothing to stop is fine, too.
    """
    if not datadir.is_held(data_dir):
        click.echo(f"No cluster runs in {data_dir}.", err=True)
        return
    state = datadir.read_state(data_dir)
    if state is None:
        click.echo(f"hardpoint: the cluster in {data_dir} is just starting or stopping; try again", err=True)
        raise SystemExit(EXIT_NO)
    try:
        os.kill(state.pid, signal.SIGTERM)
    except ProcessLookupError:
        pass
    except PermissionError:
        click.echo(f"hardpoint: process {state.pid} belongs to another user; stop it as that user", err=True)
        raise SystemExit(EXIT_NO) from None
    if not _ends(data_dir, timeout):
        click.echo(
            f"hardpoint: cluster {state.name!r} (process {state.pid}) still runs after {timeout:g} s; "
            f"see {data_dir / datadir.LOG}, or end it with: kill -9 {state.pid}",
            err=True,
        )
        raise SystemExit(EXIT_NO)
    click.echo(f"Cluster {state.name!r} is stopped. Everything written is kept in {data_dir}.", err=True)


def _ends(data_dir: Path, timeout: float) -> bool:
    deadline = time.monotonic() + timeout
    while datadir.is_held(data_dir):
        if time.monotonic() > deadline:
            return False
        time.sleep(_LOOK_AGAIN_SECONDS)
    return True
