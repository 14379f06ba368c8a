"""TLS with real certificates: whom the client trusts, and which certificate it shows."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from hardpoint.client.credentials import ClientCertificate, FileContent, FileCredentials, FixedCredentials, Proof
from hardpoint.client.endpoint import Endpoint
from hardpoint.client.http import HttpTransport
from hardpoint.client.tls import client_context
from hardpoint.client.transport import Interrupted, TransportError, Unreachable
from hardpoint.machinery.errors import ConfigError

from .authority import Authority, private_pem
from .scripted import Asked, Reply, Scripted, scripted

SERVERS = Authority("servers")
CLIENTS = Authority("clients")


async def hello(asked: Asked, reply: Reply) -> None:
    await reply.answer(b"hello")


@asynccontextmanager
async def tls_server(
    folder: Path, *alternatives: str, authority: Authority = SERVERS, needs_certificate: bool = False
) -> AsyncIterator[Scripted]:
    cert, key = authority.issue("server", alternatives=alternatives)
    (folder / "server.pem").write_bytes(cert + key)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "server.pem")
    if needs_certificate:
        context.load_verify_locations(cadata=CLIENTS.pem.decode())
        context.verify_mode = ssl.CERT_REQUIRED
    async with scripted(hello, context=context) as server:
        yield server


def at(server: Scripted, **more: object) -> Endpoint:
    return Endpoint("https", "127.0.0.1", server.port, **{"ca_pem": SERVERS.pem, **more})  # type: ignore[arg-type]


async def test_a_server_of_the_right_authority_is_trusted(tmp_path: Path) -> None:
    async with tls_server(tmp_path, "127.0.0.1") as server, HttpTransport(at(server)) as client:
        assert (await client.request("GET", "/")).body == b"hello"


@pytest.mark.parametrize(
    ("alternative", "authority"),
    [
        pytest.param("127.0.0.1", CLIENTS, id="another authority"),
        pytest.param("example.com", SERVERS, id="another name"),
    ],
)
async def test_an_impostor_is_not_asked_anything(tmp_path: Path, alternative: str, authority: Authority) -> None:
    async with tls_server(tmp_path, alternative, authority=authority) as server, HttpTransport(at(server)) as client:
        with pytest.raises(Unreachable, match="its certificate is not trusted: "):
            await client.request("GET", "/")
        assert server.asked == []


async def test_a_server_may_be_known_by_another_name(tmp_path: Path) -> None:
    async with (
        tls_server(tmp_path, "kubernetes") as server,
        HttpTransport(at(server, tls_server_name="kubernetes")) as client,
    ):
        assert (await client.request("GET", "/")).status == 200


async def test_verification_can_be_switched_off_for_one_endpoint(tmp_path: Path) -> None:
    async with (
        tls_server(tmp_path, "elsewhere", authority=CLIENTS) as server,
        HttpTransport(at(server, ca_pem=None, skip_tls_verify=True)) as client,
    ):
        assert (await client.request("GET", "/")).status == 200


async def test_a_client_certificate_is_shown(tmp_path: Path) -> None:
    mine = FixedCredentials(Proof(certificate=ClientCertificate(*CLIENTS.issue("me"))))
    async with tls_server(tmp_path, "127.0.0.1", needs_certificate=True) as server:
        async with HttpTransport(at(server, credentials=mine)) as client:
            assert (await client.request("GET", "/")).status == 200
        async with HttpTransport(at(server)) as client:
            with pytest.raises((Unreachable, Interrupted)):
                await client.request("GET", "/")


async def test_a_renewed_certificate_opens_new_connections(tmp_path: Path) -> None:
    cert, key = tmp_path / "cert", tmp_path / "key"

    def renew() -> None:
        for file, content in zip((cert, key), CLIENTS.issue("me"), strict=True):
            fresh = file.with_suffix(".new")
            fresh.write_bytes(content)
            fresh.rename(file)

    renew()
    credentials = FileCredentials(cert=FileContent(cert, "config"), key=FileContent(key, "config"))
    async with (
        tls_server(tmp_path, "127.0.0.1", needs_certificate=True) as server,
        HttpTransport(at(server, credentials=credentials)) as client,
    ):
        await client.request("GET", "/")
        await client.request("GET", "/")
        renew()
        await client.request("GET", "/")
    assert [asked.connection for asked in server.asked] == [1, 1, 2]


async def test_plain_http_at_a_tls_port_and_the_other_way_round(tmp_path: Path) -> None:
    async with (
        tls_server(tmp_path, "127.0.0.1") as server,
        HttpTransport(Endpoint("http", "127.0.0.1", server.port)) as client,
    ):
        with pytest.raises(TransportError):
            await client.request("GET", "/")
    async with scripted(hello) as plain, HttpTransport(at(plain), connect_seconds=0.2) as client:
        with pytest.raises(TransportError):
            await client.request("GET", "/")


@pytest.mark.parametrize(
    ("cert", "key"),
    [
        pytest.param(b"nonsense", b"nonsense", id="not PEM"),
        pytest.param(CLIENTS.issue("a")[0], CLIENTS.issue("b")[1], id="not a pair"),
        pytest.param(
            CLIENTS.issue("a")[0], private_pem(ec.generate_private_key(ec.SECP256R1()), b"hunter2"), id="encrypted"
        ),
    ],
)
def test_a_certificate_that_cannot_be_used_is_refused(cert: bytes, key: bytes) -> None:
    with pytest.raises(ConfigError, match="client certificate and key for https://h:1") as refused:
        client_context(Endpoint("https", "h", 1, ca_pem=SERVERS.pem), ClientCertificate(cert, key))
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize("ca", [b"", b"nonsense", b"\xff\xfe"])
def test_an_authority_that_is_none_is_refused(ca: bytes) -> None:
    with pytest.raises(ConfigError, match="certificate authority for https://h:1 is not PEM"):
        client_context(Endpoint("https", "h", 1, ca_pem=ca), None)
