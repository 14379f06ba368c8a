"""The certificates of a cluster.

Four authorities that never stand in for each other: `server-ca` for the API server's name, `client-ca` for users,
`front-proxy-ca` for proxies that speak for users, `kubelet-ca` for the names of kubelets: what a node is called must
not pass for what the API server is called.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

from hardpoint.serving import certificates
from hardpoint.serving.certificates import AUTHORITY_DAYS, Pki, Wanted

SERVICE_NAMES = (
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
)
SERVICE_ADDRESS = "10.96.0.1"
ADMIN = "hardpoint-admin"
ADMIN_GROUP = "system:masters"
FRONT_PROXY = "front-proxy-client"
"""The name that a front proxy of this cluster has in its certificate."""


def ensure(directory: Path, server_names: Iterable[str], now: datetime) -> Pki:
    """The cluster's certificates in a folder, issued where they are missing or due. Raises ConfigError."""
    return certificates.ensure(directory, wanted(server_names), now)


def wanted(server_names: Iterable[str]) -> tuple[Wanted, ...]:
    """Every certificate of a cluster whose API server is reached under `server_names` too; issuers come first."""
    names = tuple(dict.fromkeys(("localhost", "127.0.0.1", "::1", *SERVICE_NAMES, SERVICE_ADDRESS, *server_names)))
    authorities = ("server-ca", "client-ca", "front-proxy-ca", "kubelet-ca")
    return (
        *(Wanted(name, name, f"hardpoint-{name}", "authority", AUTHORITY_DAYS) for name in authorities),
        Wanted("apiserver", "server-ca", "kube-apiserver", "server", names=names),
        Wanted("admin", "client-ca", ADMIN, "client", organizations=(ADMIN_GROUP,)),
        Wanted(FRONT_PROXY, "front-proxy-ca", FRONT_PROXY, "client"),
    )
