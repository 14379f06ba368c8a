"""Serving the webhooks of Apps over TLS, and the files that tell an API server where they are.

Whoever shows no certificate of the callers' authority does not get as far as HTTP; `certificates.py` knows which one.
"""

from __future__ import annotations

import asyncio
import base64
import socket
import ssl
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hardpoint.machinery import errors, yamltext
from hardpoint.machinery.errors import ConfigError
from hardpoint.machinery.messages import Request, Response
from hardpoint.sdk.app import App, WebhookGuest
from hardpoint.sdk.certificates import ANY_ADDRESS, Now, Trust
from hardpoint.serving import Limits, bind_or_any, serve
from hardpoint.serving.certificates import Pki, replace_privately
from hardpoint.serving.webhooks import BODY_BYTES_MAX, Webhooks
from hardpoint.serving.writing import status_response

DEFAULT_PORT = 9443
CONNECTIONS_MAX = 1000


@dataclass(frozen=True, slots=True)
class Place:
    """Where to listen."""

    host: str = "127.0.0.1"
    port: int | None = None
    """None: 9443 if it is free, else any."""
    name: str = ""
    """What the cluster calls this server, if not by its address; its certificate must have that name."""


class Served:
    """A running server of webhooks."""

    address: str
    """Where it listens, as the cluster calls it."""

    def __init__(self, apps: Sequence[App], trust: Trust, pki: Pki) -> None:
        self.webhooks = Webhooks(())
        self.guests: dict[str, WebhookGuest] = {}
        """By title: the seam's name, with the path where there are several of one seam."""
        self._trust = trust
        self._pki = pki
        self._context: ssl.SSLContext | None = None
        self._open_paths: frozenset[str] = frozenset()
        """Where callers need no certificate."""
        self.replace(apps)

    def replace(self, apps: Sequence[App]) -> None:
        """Serve these Apps from now on. Raises ConfigError if two of them want one path."""
        self.guests = _guests(apps)
        self.webhooks.replace(self.guests.values())
        self._open_paths = frozenset(guest.path for guest in self.guests.values() if guest.admits_anyone)
        self._demand_certificates()

    def secured_by(self, context: ssl.SSLContext) -> None:
        """Have TLS ask for certificates as the guests want it, now and after each `replace`."""
        self._context = context
        self._demand_certificates()

    def _demand_certificates(self) -> None:
        if self._context is not None and not self._trust.admits_anyone:
            self._context.verify_mode = ssl.CERT_OPTIONAL if self._open_paths else ssl.CERT_REQUIRED

    async def handle(self, request: Request) -> Response:
        """The answer to any request. Whom TLS had to let in for one path gets no further than that path."""
        is_known = request.peer.certificate is not None or self._trust.admits_anyone
        if self._open_paths and request.path not in self._open_paths and not is_known:
            return status_response(errors.unauthorized())
        return await self.webhooks.handle(request)

    def ca_bundle(self) -> str:
        """The authority of this server's certificate, as definitions hold it; "" where it is the user's own."""
        return _base64(self._pki.certificate("server-ca")) if self._trust.certificate is None else ""

    def url(self, guest: WebhookGuest) -> str:
        return f"{self.address}{guest.path}"

    def config(self, guest: WebhookGuest) -> dict[str, Any]:
        """The kubeconfig-format document that tells an API server where the guest is and what to show it."""
        cluster, user = {"server": self.url(guest)}, {}
        if self._trust.certificate is None:
            cluster["certificate-authority-data"] = _base64(self._pki.certificate("server-ca"))
        if self._trust.client_ca is None and not self._trust.admits_anyone:
            user["client-certificate-data"] = _base64(self._pki.certificate("caller"))
            user["client-key-data"] = _base64(self._pki.key("caller"))
        name = guest.seam
        return {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": name, "cluster": cluster}],
            "users": [{"name": name, "user": user}],
            "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
            "current-context": name,
        }


def write_configs(served: Served, folder: Path) -> dict[str, Path]:
    """Write each guest's config into a file that only its owner reads, and return the files' full paths by title.

    A guest that no flag tells of needs none.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    files = {title: folder.resolve() / f"{title}.yaml" for title, guest in served.guests.items() if guest.flag}
    for title, file in files.items():
        replace_privately(file, yamltext.encode(served.config(served.guests[title])))
    return files


@asynccontextmanager
async def serving(
    apps: Sequence[App],
    trust: Trust,
    place: Place,
    *,
    renewed: Callable[[Served], object] = lambda served: None,
    now: Now = lambda: datetime.now(UTC),
) -> AsyncIterator[Served]:
    """Serve the webhooks of `apps` until left; `renewed` is told when configs hold new certificates.

    Raises ConfigError.
    """
    pki = trust.ensured(now())
    context = trust.context(pki)
    served = Served(apps, trust, pki)
    served.secured_by(context)
    bound = _bind(place.host, place.port)
    served.address = _address(place, bound.getsockname()[1])
    limits = Limits(
        body_bytes_max=max((guest.body_bytes_max for guest in served.guests.values()), default=BODY_BYTES_MAX),
        connections_max=CONNECTIONS_MAX,
    )
    async with await serve(served.handle, bound=bound, ssl_context=context, limits=limits):
        fresh = asyncio.create_task(trust.keep_fresh(context, now, lambda: renewed(served)), name="certificates")
        try:
            yield served
        finally:
            fresh.cancel()
            await asyncio.wait([fresh])


def _guests(apps: Iterable[App]) -> dict[str, WebhookGuest]:
    by_path: dict[str, WebhookGuest] = {}
    for app in apps:
        for path, guest in app.webhooks.items():
            if path in by_path:
                there = by_path[path].function.place
                raise guest.function.wrong(f"is served at {path}, where {there} is; give one of them a path=")
            by_path[path] = guest
    of_seam = Counter(guest.seam for guest in by_path.values())
    return {
        guest.seam if of_seam[guest.seam] == 1 else guest.seam + path.replace("/", "-"): guest
        for path, guest in by_path.items()
    }


def _bind(host: str, port: int | None) -> socket.socket:
    try:
        return bind_or_any(host, port, DEFAULT_PORT)
    except OSError as cause:
        raise ConfigError(f"cannot listen on {host} port {port or DEFAULT_PORT}: {cause.strerror}") from cause


def _address(place: Place, port: int) -> str:
    host = place.name or ANY_ADDRESS.get(place.host, place.host)
    return f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}"


def _base64(file: Path) -> str:
    return base64.b64encode(file.read_bytes()).decode()
