"""Client certificates and front proxies, over real TLS: which authority vouches for what."""

from __future__ import annotations

import asyncio
import hashlib
import ssl
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from cryptography.x509.oid import ExtendedKeyUsageOID

from hardpoint.apiserver.authentication.certificate import Certificate
from hardpoint.apiserver.authentication.checks import check
from hardpoint.apiserver.authentication.front_proxy import Headers
from hardpoint.apiserver.authentication.options import AuthenticationOptions, FrontProxyOptions
from hardpoint.apiserver.pki import ensure
from hardpoint.machinery.errors import ConfigError
from hardpoint.machinery.messages import Peer, Request, User
from hardpoint.seams.authentication.contract import RefusedCredential
from tests.apiserver.authentication.over_tls import Guarded, guarded, issue

Json = dict[str, Any]

PROXIED = (("X-Remote-User", "jane"), ("X-Remote-Group", "dev"), ("X-Remote-Group", "a, b"), ("X-Remote-Uid", "7"))
NO_HANDSHAKE = (ssl.SSLError, ConnectionError, asyncio.IncompleteReadError)


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Guarded]:
    async with guarded(tmp_path) as running:
        yield running


async def test_the_subject_is_the_user(server: Guarded) -> None:
    names = {"O": ["dev", "ops"], "CN": ["first", "jane"], "UID": "u-1"}
    certificate, key = issue(server.pki, "client-ca", server.folder, names=names)
    encoded = ssl.PEM_cert_to_DER_cert(certificate.read_text())
    assert await server.who(server.client(certificate, key)) == (
        201,
        {
            "username": "jane",
            "uid": "u-1",
            "groups": ["dev", "ops", "system:authenticated"],
            "extra": {
                "authentication.kubernetes.io/credential-id": [f"X509SHA256={hashlib.sha256(encoded).hexdigest()}"]
            },
        },
    )


async def test_no_certificate_and_one_without_a_name_are_nobody(server: Guarded) -> None:
    for tls in (server.client(), server.issued("client-ca", names={"O": "system:masters"})):
        status, refused = await server.who(tls)
        assert status == 403
        assert 'User "system:anonymous"' in refused["message"]


@pytest.mark.parametrize("uids", [["a", "b"], [""]])
async def test_a_certificate_that_says_two_things_is_not_good(server: Guarded, uids: list[str]) -> None:
    assert (await server.who(server.issued("client-ca", names={"CN": "jane", "UID": uids})))[0] == 401


async def test_a_certificate_for_servers_is_not_for_clients(server: Guarded) -> None:
    tls = server.issued("client-ca", names={"CN": "jane"}, usage=ExtendedKeyUsageOID.SERVER_AUTH)
    with pytest.raises(NO_HANDSHAKE):
        await server.who(tls)
    without = server.issued("client-ca", names={"CN": "jane"}, usage=None)
    assert (await server.who(without))[1]["username"] == "jane"


async def test_other_authorities_vouch_for_nobody(server: Guarded, tmp_path: Path) -> None:
    """Neither a stranger's, though it bears the same name, nor the server's own."""
    stranger = ensure(tmp_path / "stranger", [], datetime.now(UTC))
    for tls in (
        server.client(stranger.certificate("admin"), stranger.key("admin")),
        server.client(*issue(server.pki, "server-ca", server.folder, names={"CN": "jane"})),
    ):
        with pytest.raises(NO_HANDSHAKE):
            await server.who(tls)


async def test_an_expired_certificate_opens_no_connection(server: Guarded) -> None:
    with pytest.raises(NO_HANDSHAKE):
        await server.who(server.issued("client-ca", names={"CN": "jane"}, seconds=-1))


@pytest.mark.parametrize(("expires", "is_good"), [(11.0, True), (10.0, False), (9.0, False)])
def test_a_connection_may_outlive_its_certificate(expires: float, is_good: bool) -> None:
    request = Request("GET", "/", "", {}, b"", Peer("x", User("jane"), expires=expires))
    authenticator = Certificate(now=lambda: 10.0)
    if is_good:
        assert authenticator.identify(request) == User("jane")
    else:
        with pytest.raises(RefusedCredential):
            authenticator.identify(request)


async def test_a_session_of_tls_1_2_is_resumed_by_the_same_user(server: Guarded) -> None:
    """A resumed session brings no chain; who vouched for the certificate is remembered, or it counts for nothing."""

    def ask_twice() -> list[bool]:
        import socket

        context = server.named("admin")
        context.maximum_version = ssl.TLSVersion.TLSv1_2
        session, answers = None, []
        for _ in range(2):
            with (
                socket.create_connection(("127.0.0.1", server.port)) as plain,
                context.wrap_socket(plain, server_hostname="localhost", session=session) as wrapped,
            ):
                wrapped.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
                answers.append(wrapped.recv(15) == b"HTTP/1.1 200 OK")
                session = wrapped.session
                was_resumed = wrapped.session_reused
        return [*answers, bool(was_resumed)]

    assert await asyncio.to_thread(ask_twice) == [True, True, True]


async def test_a_front_proxy_speaks_for_others(server: Guarded) -> None:
    extra = ("X-Remote-Extra-Example.com%2FTeam", "a")
    status, user = await server.who(server.named("front-proxy-client"), *PROXIED, extra)
    assert status == 201
    assert user == {
        "username": "jane",
        "uid": "7",
        "groups": ["dev", "a, b", "system:authenticated"],
        "extra": {"example.com/team": ["a"]},
    }


async def test_headers_from_anybody_else_say_nothing(server: Guarded) -> None:
    forged = (("X-Remote-User", "root"), ("X-Remote-Group", "system:masters"))
    status, refused = await server.who(server.client(), *forged)
    assert (status, 'User "system:anonymous"' in refused["message"]) == (403, True)
    named = {"CN": "front-proxy-client"}
    status, user = await server.who(server.issued("client-ca", names=named), *forged)
    assert (status, user["username"]) == (201, "front-proxy-client")
    assert "system:masters" not in user["groups"]


async def test_a_front_proxy_that_names_nobody_is_nobody(server: Guarded) -> None:
    """As for kube-apiserver: its certificate is no user's."""
    assert (await server.who(server.named("front-proxy-client")))[0] == 401
    assert (await server.who(server.issued("front-proxy-ca", names={"CN": "other"}), *PROXIED))[0] == 401


async def test_the_headers_have_the_names_they_are_given(tmp_path: Path) -> None:
    pki = ensure(tmp_path / "pki", [], datetime.now(UTC))
    headers = Headers(("X-First", "X-Second"), ("X-Id",), ("X-Team",), ("X-More-",))
    options = FrontProxyOptions(pki.certificate("front-proxy-ca"), (), headers)
    async with guarded(tmp_path, options) as server:
        said = (("X-Second", "jane"), ("X-Team", "a, b"), ("X-Team", "c"), ("X-Remote-Group", "system:masters"))
        status, user = await server.who(server.named("front-proxy-client"), *said, ("X-More-K", "1"), ("X-More-K", "2"))
        assert (status, user["username"]) == (201, "jane")
        assert user["groups"] == ["a, b", "c", "system:authenticated"]
        assert user["extra"] == {"k": ["1", "2"]}


async def test_one_authority_for_clients_and_proxies_needs_names(tmp_path: Path) -> None:
    pki = ensure(tmp_path / "pki", [], datetime.now(UTC))
    client_ca = pki.certificate("client-ca")
    shared = AuthenticationOptions(client_ca_file=client_ca, front_proxy=FrontProxyOptions(client_ca))
    with pytest.raises(ConfigError, match="--requestheader-allowed-names"):
        check(shared)
    async with guarded(tmp_path, FrontProxyOptions(client_ca, ("the-proxy",))) as server:
        proxy = server.issued("client-ca", names={"CN": "the-proxy"})
        assert (await server.who(proxy, *PROXIED))[1]["username"] == "jane"
        user = server.issued("client-ca", names={"CN": "joe"})
        assert (await server.who(user, *PROXIED))[1]["username"] == "joe"
