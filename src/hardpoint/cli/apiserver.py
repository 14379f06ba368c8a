"""`hardpoint apiserver`: the API server alone, with kube-apiserver's flags where it has them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from hardpoint.cli import audit as audit_flags
from hardpoint.cli import authentication as authentication_flags
from hardpoint.cli import authorization as authorization_flags
from hardpoint.cli import flow as flow_flags
from hardpoint.cli import options

if TYPE_CHECKING:
    from hardpoint.apiserver.audit.options import AuditOptions
    from hardpoint.apiserver.authentication.options import AuthenticationOptions
    from hardpoint.apiserver.authorization.options import AuthorizationOptions
    from hardpoint.apiserver.flow.options import FlowOptions

EXAMPLES = """\b
Examples:
  hardpoint apiserver --store memory --secure-port 0
  hardpoint apiserver --store etcd://10.0.0.5:2379 --etcd-cafile ca.crt --etcd-certfile c.crt --etcd-keyfile c.key \\
      --bind-address 0.0.0.0 --tls-cert-file api.crt --tls-private-key-file api.key --client-ca-file users-ca.crt
"""


@click.command("apiserver", epilog=EXAMPLES)
@click.option(
    "--bind-address",
    default="127.0.0.1",
    show_default=True,
    help="The IP address to listen on.",
    callback=options.check_address,
)
@options.port("--secure-port", "port")
@click.option("--tls-cert-file", type=options.FILE, metavar="FILE", help="The server's certificate, with its chain.")
@click.option("--tls-private-key-file", type=options.FILE, metavar="FILE", help="The key of that certificate.")
@click.option("--client-ca-file", type=options.FILE, metavar="FILE", help="The authority that vouches for users.")
@options.data_dir
@options.store
@options.etcd_files
@authentication_flags.all_flags
@authorization_flags.flags
@audit_flags.apiserver_flags
@flow_flags.flags
def command(
    *,
    bind_address: str,
    port: int | None,
    tls_cert_file: Path | None,
    tls_private_key_file: Path | None,
    client_ca_file: Path | None,
    data_dir: Path,
    store: str,
    etcd_cafile: Path | None,
    etcd_certfile: Path | None,
    etcd_keyfile: Path | None,
    authentication: AuthenticationOptions,
    authorization: AuthorizationOptions,
    audit: AuditOptions,
    flow: FlowOptions,
) -> None:
    """Run the API server alone, against any store.

    Without certificate files it uses those in the data directory's pki folder, and issues them if need be; an admin's
    client certificate is pki/admin.crt there. No kubeconfig is written.
    """
    from hardpoint.cli import logs, serving
    from hardpoint.cluster import API_SERVER, EtcdFiles, Options, ServingFiles

    given = (tls_cert_file, tls_private_key_file, client_ca_file)
    own_files = None
    if any(given):
        if tls_cert_file is None or tls_private_key_file is None or client_ca_file is None:
            raise click.UsageError("--tls-cert-file, --tls-private-key-file and --client-ca-file go together")
        own_files = ServingFiles(tls_cert_file, tls_private_key_file, client_ca_file)
    logs.to_stderr()
    wanted = Options(
        data_dir=data_dir,
        name="apiserver",
        host=bind_address,
        port=port,
        store=store,
        etcd=EtcdFiles(etcd_cafile, etcd_certfile, etcd_keyfile),
        serving=own_files,
        authentication=authentication,
        authorization=authorization,
        audit=audit,
        flow=flow,
        components=(API_SERVER,),
    )
    serving.run(wanted, lambda state: click.echo(state.address))
