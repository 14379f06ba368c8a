"""The TLS side of serving: which versions, which ciphers, whose client certificates.

A client certificate is optional (tokens are the other way in), but one that is shown must be good: the handshake ends
for any other. Its issuer is the client CA and nobody else; the front proxy's CA vouches for headers, not for users.
"""

from __future__ import annotations

import ssl
from pathlib import Path

from hardpoint.machinery.errors import ConfigError


def serving_context(certificate: Path, key: Path, client_ca: Path | None) -> ssl.SSLContext:
    """A context for `serve`: TLS 1.2 or newer, HTTP/1.1 only, client certificates verified against `client_ca`.

    Raises ConfigError, naming the file, if one cannot be read or the key is not the certificate's.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    # For TLS 1.2; those of 1.3 are all of this kind.
    context.set_ciphers("ECDHE+AESGCM:ECDHE+CHACHA20")
    context.options |= ssl.OP_NO_RENEGOTIATION | ssl.OP_NO_COMPRESSION
    context.set_alpn_protocols(["http/1.1"])
    context.num_tickets = 1
    _load(context, certificate, key)
    if client_ca is not None:
        context.verify_mode = ssl.CERT_OPTIONAL
        _trust(context, client_ca)
    return context


def _load(context: ssl.SSLContext, certificate: Path, key: Path) -> None:
    for path in (certificate, key):
        _must_be_readable(path)
    try:
        context.load_cert_chain(certificate, key)
    except ssl.SSLError as cause:
        raise ConfigError(
            f"{certificate} and {key} are not a certificate and its private key in PEM form ({cause.reason})"
        ) from cause


def _trust(context: ssl.SSLContext, client_ca: Path) -> None:
    _must_be_readable(client_ca)
    try:
        context.load_verify_locations(cafile=client_ca)
    except ssl.SSLError as cause:
        raise ConfigError(f"{client_ca} holds no certificates in PEM form ({cause.reason})") from cause


def _must_be_readable(path: Path) -> None:
    # OpenSSL's own words for a missing file name neither the file nor the reason.
    try:
        path.open("rb").close()
    except OSError as cause:
        raise ConfigError(f"{path} cannot be read: {cause.strerror}") from cause
