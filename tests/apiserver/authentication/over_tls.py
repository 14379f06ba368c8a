"""An API server behind real TLS, with authorities for clients and for front proxies, and one that is neither."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from hardpoint.apiserver.authentication.options import AuthenticationOptions, FrontProxyOptions
from hardpoint.apiserver.pki import ensure
from hardpoint.apiserver.server import ApiServer
from hardpoint.serving import serve
from hardpoint.serving.certificates import Pki
from hardpoint.serving.peers import UID, Peers
from hardpoint.serving.tls import certificates_in, serving_context
from hardpoint.store.memory import MemoryStore
from tests.apiserver.asking import Api
from tests.serving.talking import talking

Json = dict[str, Any]

REVIEWS = "/apis/authentication.k8s.io/v1/selfsubjectreviews"


@dataclass
class Guarded:
    """A server with its certificates, and what a client needs to talk to it."""

    port: int
    pki: Pki
    folder: Path
    api: Api

    def client(self, certificate: Path | None = None, key: Path | None = None) -> ssl.SSLContext:
        context = ssl.create_default_context(cafile=str(self.pki.certificate("server-ca")))
        if certificate is not None:
            context.load_cert_chain(certificate, key)
        return context

    def named(self, name: str) -> ssl.SSLContext:
        """A client that shows one of the cluster's own certificates."""
        return self.client(self.pki.certificate(name), self.pki.key(name))

    def issued(self, authority: str, **terms: Any) -> ssl.SSLContext:
        """A client that shows a certificate made by `issue`."""
        certificate, key = issue(self.pki, authority, self.folder, **terms)
        return self.client(certificate, key)

    async def who(self, tls: ssl.SSLContext, *headers: tuple[str, str]) -> tuple[int, Json]:
        """What the server says about who is asking: a status, and the user or the refusal."""
        lines = [f"POST {REVIEWS} HTTP/1.1", "Host: x", "Content-Type: application/json", "Content-Length: 2"]
        lines += [f"{name}: {value}" for name, value in headers]
        async with talking(self.port, tls) as talk:
            talk.say("\r\n".join((*lines, "", "{}")).encode())
            answer = await talk.hear()
        body = orjson.loads(answer.body)
        return answer.status, body["status"]["userInfo"] if answer.status == 201 else body


def issue(
    pki: Pki,
    authority: str,
    folder: Path,
    *,
    names: Mapping[str, str | list[str]],
    usage: x509.ObjectIdentifier | None = ExtendedKeyUsageOID.CLIENT_AUTH,
    seconds: float = 3600,
) -> tuple[Path, Path]:
    """A client certificate with any subject at all, in two files."""
    issuer = x509.load_pem_x509_certificate(pki.certificate(authority).read_bytes())
    signer = serialization.load_pem_private_key(pki.key(authority).read_bytes(), None)
    assert isinstance(signer, ec.EllipticCurvePrivateKey)
    kinds = {"CN": NameOID.COMMON_NAME, "O": NameOID.ORGANIZATION_NAME, "UID": x509.ObjectIdentifier(UID)}
    subject = [
        x509.NameAttribute(kinds[kind], value, _validate=False)
        for kind, values in names.items()
        for value in ([values] if isinstance(values, str) else values)
    ]
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(x509.Name(subject))
        .issuer_name(issuer.subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(seconds=seconds))
    )
    if usage is not None:
        builder = builder.add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
    certificate = builder.sign(signer, hashes.SHA256())
    files = folder / f"{certificate.serial_number}.crt", folder / f"{certificate.serial_number}.key"
    files[0].write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    files[1].write_bytes(key.private_bytes(*form))
    return files


@asynccontextmanager
async def guarded(folder: Path, front_proxy: FrontProxyOptions | None = None) -> AsyncIterator[Guarded]:
    """A server as `hardpoint up` puts it together, but for the store."""
    pki = ensure(folder / "pki", [], datetime.now(UTC))
    client_ca, proxy_ca = pki.certificate("client-ca"), pki.certificate("front-proxy-ca")
    proxy = front_proxy or FrontProxyOptions(proxy_ca, ("front-proxy-client",))
    options = AuthenticationOptions(client_ca_file=client_ca, front_proxy=proxy)
    store = MemoryStore()
    async with ApiServer(store, authentication=options).running() as server:
        context = serving_context(pki.certificate("apiserver"), pki.key("apiserver"), client_ca, proxy.ca_file)
        assert proxy.ca_file is not None
        peers = Peers(certificates_in(client_ca), certificates_in(proxy.ca_file), proxy.headers.all)
        async with await serve(server.handle, ssl_context=context, peers=peers) as listening:
            yield Guarded(listening.port, pki, folder, Api(server))
    await store.close()
