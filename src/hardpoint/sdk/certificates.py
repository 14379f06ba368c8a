"""The certificates of a webhook server, in a folder of its own.

There are four pairs: an authority for servers and this server's certificate, and an authority for callers and the
certificate that a cluster shows. They are issued when missing and renewed while the server runs. A certificate of the
user's own, or another authority for callers, stands in for those in the folder.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from hardpoint.machinery.errors import ConfigError
from hardpoint.serving.certificates import AUTHORITY_DAYS, Pki, Wanted, ensure
from hardpoint.serving.tls import serving_context

log = logging.getLogger(__name__)

RENEWAL_LOOK_SECONDS = 3600.0
ANY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 The key of a table, nothing is bound to it here.
"""Addresses that are no names, and by which name this machine knows what listens there."""

Now = Callable[[], datetime]


@dataclass(frozen=True, slots=True)
class Trust:
    """Who this server is, and whom it lets in."""

    directory: Path
    """For the certificates; its owner's alone."""
    names: tuple[str, ...] = ()
    """What callers may call this server, besides what this machine is called."""
    certificate: Path | None = None
    key: Path | None = None
    """The server's own certificate and key, in place of those that are issued."""
    client_ca: Path | None = None
    """Whose certificates callers must show, in place of the folder's authority."""
    admits_anyone: bool = False
    """Whether callers without a certificate are let in. They can ask whose token any token is."""

    def ensured(self, now: datetime) -> Pki:
        """The folder with everything in it that it should hold. Raises ConfigError."""
        return ensure(self.directory, _wanted(self.names), now)

    def context(self, pki: Pki) -> ssl.SSLContext:
        """The TLS side of the server. Raises ConfigError."""
        if (self.certificate is None) != (self.key is None):
            raise ConfigError("a server certificate and its key go together")
        certificate, key = self.certificate or pki.certificate("server"), self.key or pki.key("server")
        client_ca = None if self.admits_anyone else self.client_ca or pki.certificate("caller-ca")
        context = serving_context(certificate, key, client_ca)
        if client_ca is not None:
            context.verify_mode = ssl.CERT_REQUIRED
        return context

    async def keep_fresh(self, context: ssl.SSLContext, now: Now, renewed: Callable[[], object]) -> None:
        """Look now and then whether a certificate is due, and say so when the folder holds new ones.

        New connections see the new certificate, open ones go on. Runs until cancelled.
        """
        shown = _content(self.ensured(now()))
        while True:
            await asyncio.sleep(RENEWAL_LOOK_SECONDS)
            try:
                pki = self.ensured(now())
                if _content(pki) == shown:
                    continue
                shown = _content(pki)
                if self.certificate is None:
                    context.load_cert_chain(pki.certificate("server"), pki.key("server"))
                log.info("certificates renewed", extra={"directory": str(self.directory)})
                renewed()
            except (ConfigError, OSError) as failed:
                log.error("certificates not renewed", extra={"error": str(failed)})


def _wanted(names: tuple[str, ...]) -> tuple[Wanted, ...]:
    known = ("localhost", "127.0.0.1", "::1", socket.gethostname(), *names)
    usable = tuple(dict.fromkeys(name for name in known if name and name.isascii() and name not in ANY_ADDRESS))
    return (
        Wanted("server-ca", "server-ca", "hardpoint-webhook-server-ca", "authority", AUTHORITY_DAYS),
        Wanted("caller-ca", "caller-ca", "hardpoint-webhook-caller-ca", "authority", AUTHORITY_DAYS),
        Wanted("server", "server-ca", "hardpoint-webhook", "server", names=usable),
        Wanted("caller", "caller-ca", "hardpoint-webhook-caller", "client"),
    )


def _content(pki: Pki) -> tuple[bytes, ...]:
    return tuple(pki.certificate(name).read_bytes() for name in ("server-ca", "caller-ca", "server", "caller"))
