"""The TLS side of serving: which versions, which ciphers, whose client certificates.

A client certificate is optional (tokens are the other way in), but one that is shown must be good: the handshake ends
for any other. Two authorities may vouch for one, and they vouch for different things: the clients' authority says who
somebody is, the front proxies' that somebody may speak for others. `peers.py` tells which of them it was.
"""

from __future__ import annotations

import ssl
from pathlib import Path

from hardpoint.machinery.errors import ConfigError


def serving_context(
    certificate: Path, key: Path, client_ca: Path | None, front_proxy_ca: Path | None = None
) -> ssl.SSLContext:
    """A context for `serve`: TLS 1.2 or newer, HTTP/1.1 only, client certificates verified against the authorities.

    Raises ConfigError, naming the file, if one cannot be read or the key is not the certificate's.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    # For TLS 1.2; those of 1.3 are all of this kind.
    context.set_ciphers("ECDHE+AESGCM:ECDHE+CHACHA20")
    context.options |= ssl.OP_NO_RENEGOTIATION | ssl.OP_NO_COMPRESSION
    # A resumed session brings a certificate that nobody looked at again, and not who vouched for it.
    context.options |= ssl.OP_NO_TICKET
    context.num_tickets = 0
    context.set_alpn_protocols(["http/1.1"])
    _load(context, certificate, key)
    for authority in (client_ca, front_proxy_ca):
        if authority is not None:
            context.verify_mode = ssl.CERT_OPTIONAL
            # As for Go, whatever is in the file is trusted, also one that somebody else issued.
            context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
            _trust(context, authority)
    return context


def certificates_in(path: Path) -> frozenset[bytes]:
    """The certificates in a PEM file, encoded. Raises ConfigError."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    _trust(context, path)
    return frozenset(context.get_ca_certs(binary_form=True))


def _load(context: ssl.SSLContext, certificate: Path, key: Path) -> None:
    for path in (certificate, key):
        _must_be_readable(path)
    try:
        context.load_cert_chain(certificate, key)
    except ssl.SSLError as cause:
        raise ConfigError(
            f"{certificate} and {key} are not a certificate and its private key in PEM form ({cause.reason})"
        ) from cause


def _trust(context: ssl.SSLContext, authority: Path) -> None:
    _must_be_readable(authority)
    try:
        context.load_verify_locations(cafile=authority)
    except ssl.SSLError as cause:
        raise ConfigError(f"{authority} holds no certificates in PEM form ({cause.reason})") from cause


def _must_be_readable(path: Path) -> None:
    # OpenSSL's own words for a missing file name neither the file nor the reason.
    try:
        path.open("rb").close()
    except OSError as cause:
        raise ConfigError(f"{path} cannot be read: {cause.strerror}") from cause
