"""The certificates of a webhook server, in a folder of its own.

There are four pairs: an authority for servers and this server's certificate, and an authority for callers and the
certificate that a cluster shows. They are issued when missing and renewed while the server runs. A certificate of the
user's own, or another authority for callers, stands in for those in the folder.
"""

from __future__ import annotations

import asyncio
import logging
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
    """What callers may call this server, besides localhost."""
    certificate: Path | None = None
    key: Path | None = None
    """The server's own certificate and key, in place of those that are issued."""
    client_ca: Path | None = None
    """Whose certificates callers must show, in place of the folder's authority."""
    admits_anyone: bool = False
    """Whether callers without a certificate are let in. They can ask whose token any token is."""

    def ensured(self, now: datetime) -> Pki:
        """The folder with everything in it that it should hold; untouched if nothing of it is used.

        Raises ConfigError.
        """
        if (self.certificate is None) != (self.key is None):
            raise ConfigError("a server certificate and its key go together")
        if self.certificate is not None and (self.client_ca is not None or self.admits_anyone):
            return Pki(self.directory)
        return ensure(self.directory, _wanted(self.names), now)

    def context(self, pki: Pki) -> ssl.SSLContext:
        """The TLS side of the server. Raises ConfigError."""
        client_ca = None if self.admits_anyone else self.client_ca or pki.certificate("caller-ca")
        context = serving_context(*self._shown(pki), client_ca)
        if client_ca is not None:
            context.verify_mode = ssl.CERT_REQUIRED
        return context

    async def keep_fresh(self, context: ssl.SSLContext, now: Now, renewed: Callable[[], object]) -> None:
        """Look now and then whether a certificate is due or was replaced, and say so when there are new ones.

        New connections see the new certificate, open ones go on. Runs until cancelled.
        """
        seen = self._content(self.ensured(now()))
        while True:
            await asyncio.sleep(RENEWAL_LOOK_SECONDS)
            try:
                pki = self.ensured(now())
                content = self._content(pki)
                if content != seen:
                    context.load_cert_chain(*self._shown(pki))
                    log.info("certificates renewed", extra={"directory": str(self.directory)})
                    seen = content
                    renewed()
            except (ConfigError, OSError) as failed:
                log.error("certificates not renewed", extra={"error": str(failed)})

    def _shown(self, pki: Pki) -> tuple[Path, Path]:
        return self.certificate or pki.certificate("server"), self.key or pki.key("server")

    def _content(self, pki: Pki) -> tuple[bytes, ...]:
        """What tells one set of certificates from the next."""
        caller = pki.certificate("caller")
        return (*(file.read_bytes() for file in self._shown(pki)), caller.read_bytes() if caller.exists() else b"")


def _wanted(names: tuple[str, ...]) -> tuple[Wanted, ...]:
    known = ("localhost", "127.0.0.1", "::1", *names)
    usable = tuple(dict.fromkeys(name for name in known if name and name.isascii() and name not in ANY_ADDRESS))
    return (
        Wanted("server-ca", "server-ca", "hardpoint-webhook-server-ca", "authority", AUTHORITY_DAYS),
        Wanted("caller-ca", "caller-ca", "hardpoint-webhook-caller-ca", "authority", AUTHORITY_DAYS),
        Wanted("server", "server-ca", "hardpoint-webhook", "server", names=usable),
        Wanted("caller", "caller-ca", "hardpoint-webhook-caller", "client"),
    )
