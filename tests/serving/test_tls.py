"""Which TLS is spoken, and whose certificates count."""

from __future__ import annotations

import asyncio
import socket
import ssl
import warnings
from datetime import UTC, datetime
from pathlib import Path

import pytest

from hardpoint.apiserver.pki import ensure
from hardpoint.machinery.errors import ConfigError
from hardpoint.serving import serve
from hardpoint.serving.certificates import Pki
from hardpoint.serving.tls import serving_context
from tests.serving.talking import Answer, echo, get, serving, talking


async def ask(port: int, tls: ssl.SSLContext) -> Answer:
    async with talking(port, tls) as talk:
        talk.say(get("/"))
        return await talk.hear()


@pytest.mark.parametrize(
    ("version", "fine"),
    [
        (ssl.TLSVersion.TLSv1, False),
        (ssl.TLSVersion.TLSv1_1, False),
        (ssl.TLSVersion.TLSv1_2, True),
        (ssl.TLSVersion.TLSv1_3, True),
    ],
)
async def test_versions(version: ssl.TLSVersion, fine: bool, pki: Pki, server_tls: ssl.SSLContext) -> None:
    client = ssl.create_default_context(cafile=str(pki.certificate("server-ca")))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        client.minimum_version = client.maximum_version = version
    client.set_ciphers("ALL:@SECLEVEL=0")
    async with serving(echo, server_tls) as server:
        if fine:
            assert (await ask(server.port, client)).status == 200
        else:
            with pytest.raises((ssl.SSLError, ConnectionError)):
                await ask(server.port, client)


@pytest.mark.parametrize("ciphers", ["AES128-SHA", "ECDHE-ECDSA-AES128-SHA", "ECDHE-ECDSA-AES256-SHA384"])
async def test_old_ciphers_are_refused(ciphers: str, pki: Pki, server_tls: ssl.SSLContext) -> None:
    client = ssl.create_default_context(cafile=str(pki.certificate("server-ca")))
    client.maximum_version = ssl.TLSVersion.TLSv1_2
    client.set_ciphers(f"{ciphers}:@SECLEVEL=0")
    async with serving(echo, server_tls) as server:
        with pytest.raises((ssl.SSLError, ConnectionError)):
            await ask(server.port, client)


async def test_only_http_1_1_is_offered(pki: Pki, server_tls: ssl.SSLContext) -> None:
    client = ssl.create_default_context(cafile=str(pki.certificate("server-ca")))
    client.set_alpn_protocols(["h2", "http/1.1"])
    async with serving(echo, server_tls) as server, talking(server.port, client) as talk:
        assert talk.writer.get_extra_info("ssl_object").selected_alpn_protocol() == "http/1.1"


@pytest.mark.parametrize("name", ["front-proxy-client", "stranger"])
async def test_certificates_of_other_authorities_are_refused(
    name: str, pki: Pki, server_tls: ssl.SSLContext, tmp_path: Path
) -> None:
    client = ssl.create_default_context(cafile=str(pki.certificate("server-ca")))
    if name == "stranger":
        other = ensure(tmp_path / "other", [], datetime.now(UTC))
        client.load_cert_chain(other.certificate("admin"), other.key("admin"))
    else:
        client.load_cert_chain(pki.certificate(name), pki.key(name))
    async with serving(echo, server_tls) as server:
        # In TLS 1.3 the client learns of it with its first read.
        with pytest.raises((ssl.SSLError, ConnectionError, asyncio.IncompleteReadError)):
            await ask(server.port, client)


async def test_whoever_does_not_speak_tls_is_sent_away(server_tls: ssl.SSLContext, client_tls: ssl.SSLContext) -> None:
    async with serving(echo, server_tls) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(get("/"))
        async with asyncio.timeout(5):
            heard = await reader.read()
        assert not heard.startswith(b"HTTP/1.1 200")
        writer.transport.abort()
        assert (await ask(server.port, client_tls)).status == 200


async def test_a_port_that_is_taken_is_an_error(server_tls: ssl.SSLContext) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(OSError, match="in use"):
        await serve(echo, port=taken.getsockname()[1], ssl_context=server_tls)


def test_files_that_cannot_work_are_named(pki: Pki, tmp_path: Path) -> None:
    certificate, key, client_ca = pki.certificate("apiserver"), pki.key("apiserver"), pki.certificate("client-ca")
    empty = tmp_path / "empty.pem"
    empty.write_bytes(b"")
    with pytest.raises(ConfigError, match=r"missing\.crt cannot be read: No such file"):
        serving_context(tmp_path / "missing.crt", key, client_ca)
    with pytest.raises(ConfigError, match=r"apiserver\.crt and .*admin\.key are not a certificate and its private key"):
        serving_context(certificate, pki.key("admin"), client_ca)
    with pytest.raises(ConfigError, match=r"empty\.pem holds no certificates"):
        serving_context(certificate, key, empty)
