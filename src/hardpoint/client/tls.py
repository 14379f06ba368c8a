"""The client's side of TLS: whom to trust, and which certificate to show."""

from __future__ import annotations

import ssl
from pathlib import Path

from hardpoint.client.credentials import ClientCertificate
from hardpoint.client.endpoint import Endpoint
from hardpoint.machinery.errors import ConfigError


def client_context(endpoint: Endpoint, certificate: ClientCertificate | None) -> ssl.SSLContext:
    """A context for connections to `endpoint`. Raises ConfigError for certificates that cannot be used."""
    # Not create_default_context: from 3.13 on it refuses authorities that many clusters have used for years.
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    if endpoint.skip_tls_verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    elif endpoint.ca_pem is None:
        context.load_default_certs()
    else:
        _trust(context, endpoint)
    if certificate is not None:
        _show(context, certificate, endpoint)
    return context


def _trust(context: ssl.SSLContext, endpoint: Endpoint) -> None:
    assert endpoint.ca_pem is not None
    try:
        context.load_verify_locations(cadata=endpoint.ca_pem.decode("ascii"))
    except (ssl.SSLError, ValueError) as cause:
        raise ConfigError(f"the certificate authority for {endpoint.url} is not PEM certificates") from cause


def _show(context: ssl.SSLContext, certificate: ClientCertificate, endpoint: Endpoint) -> None:
    import tempfile  # Few clients show certificates of their own: start-up does not wait for it.

    # The ssl module takes client certificates from files only; this one is private and gone at once.
    with tempfile.TemporaryDirectory(prefix="hardpoint-") as folder:
        cert, key = Path(folder, "cert"), Path(folder, "key")
        cert.write_bytes(certificate.cert_pem)
        key.touch(mode=0o600)
        key.write_bytes(certificate.key_pem)
        try:
            context.load_cert_chain(cert, key, password=_no_password)
        except (ssl.SSLError, ValueError) as cause:
            message = "is not PEM, is encrypted, or does not belong together"
            raise ConfigError(f"the client certificate and key for {endpoint.url}: the pair {message}") from cause


def _no_password() -> str:
    """Without this OpenSSL would ask on the terminal for the password of an encrypted key."""
    raise ValueError("the key is encrypted")
