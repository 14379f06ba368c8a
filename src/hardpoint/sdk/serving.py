"""Serving the webhooks of Apps: over TLS, with certificates of their own, to those who show one that is known.

A folder holds four pairs: an authority for servers and this server's certificate, and an authority for callers and the
certificate that a cluster shows. They are issued when missing and renewed while the server runs. Whoever has no
certificate of the callers' authority does not get as far as HTTP.
"""

from __future__ import annotations

import asyncio
import base64
import errno
import logging
import socket
import ssl
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hardpoint.machinery.errors import ConfigError
from hardpoint.sdk.app import App, WebhookGuest
from hardpoint.serving import Limits, bind, serve
from hardpoint.serving.certificates import AUTHORITY_DAYS, Pki, Wanted, ensure
from hardpoint.serving.tls import serving_context
from hardpoint.serving.webhooks import BODY_BYTES_MAX, Webhooks

log = logging.getLogger(__name__)

DEFAULT_PORT = 9443
RENEWAL_LOOK_SECONDS = 3600.0
CONNECTIONS_MAX = 1000

Now = Callable[[], datetime]


@dataclass(frozen=True, slots=True)
class Place:
    """Where to listen, and whom to let in."""

    directory: Path
    """For the certificates; its owner's alone."""
    host: str = "127.0.0.1"
    port: int | None = None
    """None: 9443 if it is free, else any."""
    name: str = ""
    """What the cluster calls this server, if not by its address."""
    certificate: Path | None = None
    key: Path | None = None
    """The server's own certificate and key, in place of those that are issued."""
    client_ca: Path | None = None
    """Whose certificates callers must show, in place of the folder's authority."""
    admits_anyone: bool = False
    """Whether callers without a certificate are let in. They can ask whose token any token is."""


class Served:
    """A running server of webhooks."""

    def __init__(self, apps: Sequence[App], place: Place, pki: Pki) -> None:
        self._place = place
        self._pki = pki
        self.webhooks = Webhooks(())
        self.guests: dict[str, WebhookGuest] = {}
        """By title: the seam's name, with the path where there are several of one seam."""
        self.replace(apps)
        self.address = ""

    def replace(self, apps: Sequence[App]) -> None:
        """Serve these Apps from now on. Raises ConfigError if two of them want one path."""
        self.guests = _guests(apps)
        self.webhooks.replace(self.guests.values())

    def url(self, guest: WebhookGuest) -> str:
        return f"{self.address}{guest.path}"

    def config(self, guest: WebhookGuest) -> dict[str, Any]:
        """The kubeconfig-format document that tells an API server where the guest is and what to show it."""
        cluster = {"server": self.url(guest)}
        if self._place.certificate is None:
            cluster["certificate-authority-data"] = _base64(self._pki.certificate("server-ca"))
        user = {}
        if self._place.client_ca is None and not self._place.admits_anyone:
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


@asynccontextmanager
async def serving(apps: Sequence[App], place: Place, *, now: Now = lambda: datetime.now(UTC)) -> AsyncIterator[Served]:
    """Serve the webhooks of `apps` until left. Raises ConfigError."""
    wanted = _wanted(place)
    pki = ensure(place.directory, wanted, now())
    served = Served(apps, place, pki)
    context = _context(place, pki)
    bound = _bind(place.host, place.port)
    served.address = _address(place, bound.getsockname()[1])
    limits = replace(
        Limits(),
        body_bytes_max=max((guest.body_bytes_max for guest in served.guests.values()), default=BODY_BYTES_MAX),
        connections_max=CONNECTIONS_MAX,
    )
    async with await serve(served.webhooks.handle, bound=bound, ssl_context=context, limits=limits):
        renewing = asyncio.create_task(_renew(place, wanted, context, now), name="certificate renewal")
        try:
            yield served
        finally:
            renewing.cancel()


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


def _wanted(place: Place) -> tuple[Wanted, ...]:
    names = ("localhost", "127.0.0.1", "::1", socket.gethostname(), place.host, place.name)
    usable = tuple(dict.fromkeys(name for name in names if name and name.isascii() and name not in ("0.0.0.0", "::")))  # noqa: S104 Addresses that are no names.
    return (
        Wanted("server-ca", "server-ca", "hardpoint-webhook-server-ca", "authority", AUTHORITY_DAYS),
        Wanted("caller-ca", "caller-ca", "hardpoint-webhook-caller-ca", "authority", AUTHORITY_DAYS),
        Wanted("server", "server-ca", "hardpoint-webhook", "server", names=usable),
        Wanted("caller", "caller-ca", "hardpoint-webhook-caller", "client"),
    )


def _context(place: Place, pki: Pki) -> ssl.SSLContext:
    if (place.certificate is None) != (place.key is None):
        raise ConfigError("a server certificate and its key go together")
    certificate, key = place.certificate or pki.certificate("server"), place.key or pki.key("server")
    client_ca = None if place.admits_anyone else place.client_ca or pki.certificate("caller-ca")
    context = serving_context(certificate, key, client_ca)
    if client_ca is not None:
        context.verify_mode = ssl.CERT_REQUIRED
    return context


async def _renew(place: Place, wanted: Sequence[Wanted], context: ssl.SSLContext, now: Now) -> None:
    """Look now and then whether a certificate is due. New connections then see the new one; open ones go on."""
    if place.certificate is not None:
        return
    while True:
        await asyncio.sleep(RENEWAL_LOOK_SECONDS)
        try:
            pki = ensure(place.directory, wanted, now())
            context.load_cert_chain(pki.certificate("server"), pki.key("server"))
        except (ConfigError, OSError) as failed:
            log.error("certificates not renewed", extra={"error": str(failed)})


def _bind(host: str, port: int | None) -> socket.socket:
    try:
        return bind(host, DEFAULT_PORT if port is None else port)
    except OSError as cause:
        if cause.errno == errno.EADDRINUSE and port is None:
            return bind(host, 0)
        raise ConfigError(f"cannot listen on {host} port {port or DEFAULT_PORT}: {cause.strerror}") from cause


def _address(place: Place, port: int) -> str:
    host = place.name or {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(place.host, place.host)  # noqa: S104 A table's key.
    return f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}"


def _base64(file: Path) -> str:
    return base64.b64encode(file.read_bytes()).decode()
