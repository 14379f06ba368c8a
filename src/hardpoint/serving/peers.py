"""Who is at the other end of a connection, as far as TLS vouches for it.

TLS verified the client certificate, or the connection would not be here. What is left is who vouched for it: the
authority at the end of the chain that was verified, compared byte for byte. Names decide nothing, anybody can write
them into a certificate.
"""

from __future__ import annotations

import asyncio
import hashlib
import ssl
from collections.abc import Iterable
from typing import Any, NamedTuple

from hardpoint.machinery.messages import Peer, User
from hardpoint.serving.reading import WHOLE_VALUES

CREDENTIAL_ID = "authentication.kubernetes.io/credential-id"
"""The extra of a user that says by which certificate they are known."""

UID = "1.3.6.1.4.1.57683.2"
"""The part of a subject that is a user's uid."""

REMEMBERED_MAX = 4096


class _Introduction(NamedTuple):
    """What a certificate counts for; by default for nothing, as one that has ended long ago."""

    user: User | None = None
    proxy: str | None = None
    expires: float = 0.0


class Peers:
    """Tells who a connection's peer is.

    `clients` and `front_proxies` are the encoded certificates of the authorities; without `clients` every certificate
    that TLS lets pass is a client's. `headers` are what front proxies name users in, where that is not X-Remote-*.
    """

    def __init__(
        self,
        clients: frozenset[bytes] | None = None,
        front_proxies: frozenset[bytes] = frozenset(),
        headers: Iterable[str] = (),
    ) -> None:
        self.whole_values = (*WHOLE_VALUES, *(name.strip().lower() for name in headers))
        """How headers begin whose values are kept apart."""
        self._clients = clients
        self._front_proxies = front_proxies
        self._introduced: dict[bytes, _Introduction] = {}
        """By certificate: a session of TLS 1.2 that is resumed does not bring its chain again."""

    def peer_of(self, transport: asyncio.Transport) -> Peer:
        host, port = (transport.get_extra_info("peername") or ("gone", 0))[:2]
        address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        tls: ssl.SSLObject | None = transport.get_extra_info("ssl_object")
        shown = tls.getpeercert(binary_form=True) if tls is not None else None
        if tls is None or shown is None:
            return Peer(address)
        anchor = _anchor(tls)
        if anchor is not None:
            self._remember(shown, self._introduce(tls, shown, anchor))
        known = self._introduced.get(shown, _Introduction())
        return Peer(address, known.user, known.proxy, known.expires)

    def _remember(self, shown: bytes, introduction: _Introduction) -> None:
        if len(self._introduced) >= REMEMBERED_MAX:
            self._introduced.pop(next(iter(self._introduced)))
        self._introduced[shown] = introduction

    def _introduce(self, tls: ssl.SSLObject, shown: bytes, anchor: bytes) -> _Introduction:
        said = tls.getpeercert()
        assert said, "it was verified"
        user = _user(said, shown)
        if user is None:
            return _Introduction()
        is_client = self._clients is None or anchor in self._clients
        return _Introduction(
            user if is_client and user.name else None,
            user.name if anchor in self._front_proxies else None,
            ssl.cert_time_to_seconds(said["notAfter"]),  # type: ignore[arg-type] # the stubs know no key's type
        )


def _anchor(tls: ssl.SSLObject) -> bytes | None:
    """The certificate we trust at the end of the chain that was verified; None in a session that was resumed."""
    if hasattr(tls, "get_verified_chain"):
        chain = tls.get_verified_chain()
        return chain[-1] if chain else None
    # Python 3.13 made this public; before, the same function is there and gives OpenSSL's objects.
    chain = tls._sslobj.get_verified_chain()  # type: ignore[attr-defined]
    return chain[-1].public_bytes(_DER) if chain else None


_DER = 2


def _user(said: Any, shown: bytes) -> User | None:
    """The subject of a certificate, as Go reads it: the last CN, every O; None if it says more than one uid, or ""."""
    pairs = [pair for names in said["subject"] for pair in names]
    name = next((value for key, value in reversed(pairs) if key == "commonName"), "")
    groups = tuple(value for key, value in pairs if key == "organizationName")
    uids = [value for key, value in pairs if key == UID]
    if len(uids) > 1 or "" in uids:
        return None
    extra = {CREDENTIAL_ID: (f"X509SHA256={hashlib.sha256(shown).hexdigest()}",)}
    return User(name, groups, uids[0] if uids else "", extra)
