"""`hardpoint up`: the embedded cluster."""

from __future__ import annotations

import logging
import os
import shlex
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hardpoint.cli import audit as audit_flags
from hardpoint.cli import authentication as authentication_flags
from hardpoint.cli import authorization as authorization_flags
from hardpoint.cli import options, printing
from hardpoint.datadir import State, default_data_dir

if TYPE_CHECKING:
    from hardpoint.apiserver.audit.options import AuditOptions
    from hardpoint.apiserver.authentication.options import AuthenticationOptions
    from hardpoint.apiserver.authorization.options import AuthorizationOptions

EXAMPLES = """\b
Examples:
  hardpoint up                                   run until Ctrl-C
  hardpoint up --detach                          return when it is ready
  hardpoint up --data-dir ./demo --name demo     a second cluster
  hardpoint up --store etcd://127.0.0.1:2379     objects live in etcd
"""


@click.command("up", epilog=EXAMPLES)
@click.option("-d", "--detach", is_flag=True, help="Return when the cluster is ready and leave it running.")
@options.data_dir
@click.option(
    "--name",
    default="default",
    show_default=True,
    callback=options.check_name,
    help="The cluster's name; its context is hardpoint-NAME.",
)
@click.option(
    "--kubeconfig",
    type=options.FILE,
    default=None,
    show_default="the first file of $KUBECONFIG, or ~/.kube/config",
    help="The file to write the context to.",
)
@click.option(
    "--use-context/--keep-context",
    default=None,
    help="Make it the current context, or not.  [default: only in a file that has none]",
)
@options.port("--port")
@options.store
@options.etcd_files
@authentication_flags.file_flags
@authorization_flags.file_flags
@audit_flags.up_flags
@click.option(
    "--from-backup",
    type=options.FILE,
    metavar="FILE",
    help="Begin with what `hardpoint backup` wrote. The data directory must not hold a store yet.",
)
@click.option("--components", default="all", show_default=True, metavar="LIST", help="Which parts to run, by commas.")
def command(
    *,
    detach: bool,
    data_dir: Path,
    name: str,
    kubeconfig: Path | None,
    use_context: bool | None,
    port: int | None,
    store: str,
    etcd_cafile: Path | None,
    etcd_certfile: Path | None,
    etcd_keyfile: Path | None,
    from_backup: Path | None,
    components: str,
    authentication: AuthenticationOptions,
    authorization: AuthorizationOptions,
    audit: AuditOptions,
) -> None:
    """Start a Kubernetes v1.37 cluster on this machine.

    It listens on 127.0.0.1 and is ready when its address is printed. Ctrl-C or `hardpoint down` stops it; what was
    written stays in the data directory, and the next `up` goes on from there.
    """
    from hardpoint.cli import logs, serving
    from hardpoint.client.kubeconfig import search_path
    from hardpoint.cluster import EtcdFiles, Options, parse_components

    wanted = Options(
        data_dir=data_dir,
        name=name,
        port=port,
        store=store,
        etcd=EtcdFiles(etcd_cafile, etcd_certfile, etcd_keyfile),
        kubeconfig=Path(os.path.abspath((kubeconfig or search_path()[0]).expanduser())),
        make_current=use_context,
        authentication=authentication,
        authorization=authorization,
        audit=audit,
        from_backup=from_backup,
        components=parse_components(components),
    )
    if detach:
        _announce(serving.run_detached(wanted), data_dir)
    else:
        logs.to_stderr(logging.WARNING)
        serving.run(wanted, lambda state: _announce(state, data_dir))
        click.echo("Stopped. Everything written is kept.", err=True)


def _announce(state: State, data_dir: Path) -> None:
    printing.print_aligned({"API": state.address, "kubeconfig": f"{state.kubeconfig} (context {state.context})"})
    where = "" if data_dir == default_data_dir() else f" --data-dir {shlex.quote(str(data_dir))}"
    click.echo(f"\nTry:   {_kubectl(state)} get namespaces\nStop:  {_program()} down{where}", err=True)


def _program() -> str:
    """What to type for `hardpoint`: its path, where the shell would not find it."""
    if shutil.which("hardpoint") is not None:
        return "hardpoint"
    installed = Path(sys.executable).with_name("hardpoint")
    here = Path.cwd()
    return shlex.quote(str(installed.relative_to(here) if installed.is_relative_to(here) else installed))


def _kubectl(state: State) -> str:
    """kubectl with whatever it needs to find this cluster."""
    from hardpoint.client.kubeconfig import load, search_path

    words = ["kubectl"]
    if Path(state.kubeconfig) not in search_path():
        words += ["--kubeconfig", state.kubeconfig]
    if load(Path(state.kubeconfig)).current_context != state.context:
        words += ["--context", state.context]
    return shlex.join(words)
