"""How a controller reaches an API of ours: over TLS, by a kubeconfig, as somebody who may do anything."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

from hardpoint.client.kubeconfig import write_context
from hardpoint.machinery.messages import Handler
from hardpoint.serving import serve
from hardpoint.serving.certificates import Pki, Wanted, ensure
from hardpoint.serving.tls import serving_context

CONTROLLER = "controller-under-check"
_WANTED = (
    Wanted("authority", "authority", "hardpoint-check-ca", "authority"),
    Wanted("api", "authority", "hardpoint-check", "server", names=("127.0.0.1", "localhost")),
    Wanted("controller", "authority", CONTROLLER, "client", organizations=("system:masters",)),
)


def make_pki(folder: Path) -> Pki:
    """The certificates of all trials of a check."""
    return ensure(folder / "pki", _WANTED, datetime.now(UTC))


@asynccontextmanager
async def reachable(handler: Handler, pki: Pki, kubeconfig: Path) -> AsyncIterator[None]:
    """Serve `handler` until left, and have `kubeconfig` lead to it."""
    context = serving_context(pki.certificate("api"), pki.key("api"), pki.certificate("authority"))
    async with await serve(handler, ssl_context=context) as server:
        write_context(
            kubeconfig,
            name="check",
            server=f"https://127.0.0.1:{server.port}",
            ca_pem=pki.certificate("authority").read_bytes(),
            cert_pem=pki.certificate("controller").read_bytes(),
            key_pem=pki.key("controller").read_bytes(),
            make_current=True,
        )
        yield
