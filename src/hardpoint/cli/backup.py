"""`hardpoint backup`: the store in one file."""

from __future__ import annotations

from pathlib import Path

import click

from hardpoint.cli import options
from hardpoint.machinery.errors import ConfigError

EXAMPLES = """\b
Examples:
  hardpoint backup monday.db
  hardpoint up --data-dir ./again --from-backup monday.db
"""


@click.command("backup", epilog=EXAMPLES)
@click.argument("file", type=options.FILE)
@options.data_dir
def command(*, file: Path, data_dir: Path) -> None:
    """Copy the store of a data directory into FILE, as of one moment.

    The cluster may run and be written to meanwhile. FILE must not exist. It holds every object, secrets included,
    and only you can read it.
    """
    import asyncio

    from hardpoint.store.open import STORE_FOLDER
    from hardpoint.store.sqlite import backup
    from hardpoint.store.sqlite.directory import DATABASE

    database = data_dir / STORE_FOLDER / DATABASE
    if not database.exists():
        raise ConfigError(
            f"{data_dir} holds no store to back up; name the cluster's --data-dir "
            "(a store in etcd is backed up with `etcdctl snapshot save`, one in memory not at all)"
        )
    revision = asyncio.run(backup.write(database, file))
    click.echo(file)
    click.echo(f"Revision {revision} is in {file}.", err=True)
