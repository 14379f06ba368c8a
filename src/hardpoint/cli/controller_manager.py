"""`hardpoint controller-manager`: the controllers alone, against any cluster."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hardpoint.cli import options
from hardpoint.machinery.errors import ConfigError

if TYPE_CHECKING:
    from hardpoint.controllers.service_account_tokens import Sign
    from hardpoint.serving.certificates import Authority

EXAMPLES = """\b
Examples:
  hardpoint controller-manager
  hardpoint controller-manager --kubeconfig admin.conf --root-ca-file ca.crt
  hardpoint controller-manager --cluster-signing-cert-file ca.crt --cluster-signing-key-file ca.key
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
@click.option(
    "--cluster-signing-cert-file",
    type=options.FILE,
    metavar="FILE",
    help="The authority that signs certificate signing requests; without it, they are left to others.",
)
@click.option("--cluster-signing-key-file", type=options.FILE, metavar="FILE", help="Its private key.")
@click.option(
    "--service-account-private-key-file",
    type=options.FILE,
    metavar="FILE",
    help="The key that signs the tokens in Secrets; without it, these Secrets are left to others.",
)
def command(
    *,
    kubeconfig: Path | None,
    context: str,
    root_ca_file: Path | None,
    cluster_signing_cert_file: Path | None,
    cluster_signing_key_file: Path | None,
    service_account_private_key_file: Path | None,
) -> None:
    """Run the controllers that every cluster needs.

    They delete what has lost its owners and empty namespaces that are deleted, give each namespace its ServiceAccount
    `default` and its ConfigMap `kube-root-ca.crt`, and approve, sign and clean up certificate signing requests. They
    run until Ctrl-C.
    """
    from hardpoint.cli import logs, serving
    from hardpoint.client.client import Client
    from hardpoint.client.endpoint import find_endpoint
    from hardpoint.controllers.manager import ControllerManager
    from hardpoint.seams.credential.host import ExecPlugins

    plugins = ExecPlugins()
    endpoint = find_endpoint(kubeconfig, context, plugins=plugins)
    root_ca = root_ca_file.read_bytes() if root_ca_file is not None else endpoint.ca_pem or b""
    authorities = _authorities(cluster_signing_cert_file, cluster_signing_key_file)
    sign = _signer(service_account_private_key_file)

    @asynccontextmanager
    async def running() -> AsyncIterator[str]:
        agent = "kube-controller-manager"
        async with Client.from_kubeconfig(kubeconfig, context=context, plugins=plugins, user_agent=agent) as client:
            # Whoever mistyped an address hears of it now, not by nothing happening.
            await client.discovery.kinds()
            manager = ControllerManager(client, root_ca=root_ca.decode(), authorities=authorities, sign_token=sign)
            async with manager.running():
                yield endpoint.url

    logs.to_stderr()
    serving.run_until_stopped(running, click.echo)


def _signer(file: Path | None) -> Sign | None:
    """What signs tokens with the key in a file. Raises ConfigError."""
    from hardpoint.machinery import jwk, jws

    if file is None:
        return None
    try:
        key = jwk.signing_key(file.read_bytes())
    except OSError as cause:
        raise ConfigError(f"--service-account-private-key-file {file} cannot be read: {cause.strerror}") from cause
    except jwk.BadKey as wrong:
        raise ConfigError(f"--service-account-private-key-file {file} {wrong}") from wrong

    async def sign(claims: Mapping[str, Any]) -> str:
        return jws.sign(claims, key)

    return sign


def _authorities(certificate: Path | None, key: Path | None) -> Mapping[str, Authority]:
    """Who signs for Kubernetes' signers. Raises ConfigError for half of a pair."""
    from hardpoint.machinery.signingrequests import SIGNERS
    from hardpoint.serving.certificates import Authority

    if certificate is None and key is None:
        return {}
    if certificate is None or key is None:
        raise ConfigError("--cluster-signing-cert-file and --cluster-signing-key-file go together: a signer needs both")
    return dict.fromkeys(SIGNERS, Authority(certificate.read_bytes(), key.read_bytes()))
