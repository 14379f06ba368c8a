"""Serving an App's webhooks: certificates of its own, and nobody without one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from hardpoint import App
from hardpoint.authentication import User
from hardpoint.client.credentials import ANONYMOUS, ClientCertificate, FixedCredentials, Proof
from hardpoint.client.endpoint import Endpoint
from hardpoint.client.http import HttpTransport
from hardpoint.client.tls import client_context
from hardpoint.client.transport import Answer, TransportError
from hardpoint.machinery.errors import ConfigError
from hardpoint.sdk import certificates
from hardpoint.sdk.certificates import Trust
from hardpoint.sdk.serving import Place, Served, serving
from tests.client.authority import Authority
from tests.seams.kubeconfigs import endpoint_of


def app(name: str = "badges", path: str = "/authenticate") -> App:
    app = App(name)

    @app.authenticator(path=path)
    async def by_badge(token: str) -> User | None:
        return User("jane") if token == "good" else None

    return app


@asynccontextmanager
async def running(folder: Path, *, name: str = "", **trust: Any) -> AsyncIterator[tuple[Served, Endpoint]]:
    async with serving([app()], Trust(folder / "pki", (name,), **trust), Place(port=0, name=name)) as served:
        (guest,) = served.guests.values()
        yield served, endpoint_of(served.config(guest), folder)


async def asked(endpoint: Endpoint, path: str = "", method: str = "GET") -> Answer:
    async with HttpTransport(endpoint) as transport:
        return await transport.request(method, path)


async def test_who_has_the_written_file_is_let_in(tmp_path: Path) -> None:
    async with running(tmp_path) as (served, endpoint):
        assert endpoint.url == f"{served.address}/authenticate"
        assert (await asked(replace(endpoint, prefix=""), "/readyz")).body == b"ok"
        assert (await asked(endpoint)).status == 405


async def test_nobody_else_gets_as_far_as_http(tmp_path: Path) -> None:
    async with running(tmp_path) as (_, endpoint):
        stranger = FixedCredentials(Proof(certificate=ClientCertificate(*Authority("others").issue("me"))))
        for credentials in (ANONYMOUS, stranger):
            with pytest.raises(TransportError):
                await asked(replace(endpoint, credentials=credentials))


async def test_anyone_may_be_let_in_if_that_is_wanted(tmp_path: Path) -> None:
    async with running(tmp_path, admits_anyone=True) as (served, endpoint):
        (guest,) = served.guests.values()
        assert served.config(guest)["users"][0]["user"] == {}
        assert (await asked(replace(endpoint, credentials=ANONYMOUS))).status == 405


async def test_an_authority_of_ones_own_says_who_is_let_in(tmp_path: Path) -> None:
    callers = Authority("callers")
    (tmp_path / "callers.crt").write_bytes(callers.pem)
    async with running(tmp_path, client_ca=tmp_path / "callers.crt") as (_, endpoint):
        mine = FixedCredentials(Proof(certificate=ClientCertificate(*callers.issue("me"))))
        assert (await asked(replace(endpoint, credentials=mine))).status == 405
        with pytest.raises(TransportError):
            await asked(endpoint)


async def test_a_certificate_of_ones_own_is_shown(tmp_path: Path) -> None:
    servers = Authority("servers")
    for name, content in zip(("crt", "key"), servers.issue("me", alternatives=("127.0.0.1",)), strict=True):
        (tmp_path / f"mine.{name}").write_bytes(content)
    own = {"certificate": tmp_path / "mine.crt", "key": tmp_path / "mine.key"}
    async with running(tmp_path, **own) as (served, endpoint):
        (guest,) = served.guests.values()
        assert "certificate-authority-data" not in served.config(guest)["clusters"][0]["cluster"]
        assert (await asked(replace(endpoint, ca_pem=servers.pem))).status == 405
    with pytest.raises(ConfigError, match="go together"):
        async with running(tmp_path, certificate=tmp_path / "mine.crt"):
            pass


async def test_the_next_start_keeps_certificates_and_keys_are_private(tmp_path: Path) -> None:
    async with running(tmp_path) as (_, first):
        pass
    async with running(tmp_path) as (_, second):
        assert second.ca_pem == first.ca_pem
    for file in (tmp_path / "pki").iterdir():
        assert file.stat().st_mode & 0o077 == 0


async def test_titles_tell_guests_of_one_seam_apart(tmp_path: Path) -> None:
    apps = [app(), app("other", "/other/path")]
    async with serving(apps, Trust(tmp_path / "pki"), Place(port=0)) as served:
        assert set(served.guests) == {"authentication-authenticate", "authentication-other-path"}
    with pytest.raises(ConfigError, match=r"is served at /authenticate, where .*test_serving.py:\d+ is"):
        async with serving([app(), app("other")], Trust(tmp_path / "pki"), Place(port=0)):
            pass


async def test_a_port_that_is_taken(tmp_path: Path) -> None:
    async with running(tmp_path) as (served, _):
        port = int(served.address.rpartition(":")[2])
        with pytest.raises(ConfigError, match=f"cannot listen on 127.0.0.1 port {port}"):
            async with serving([app()], Trust(tmp_path / "pki"), Place(port=port)):
                pass


async def test_a_server_has_the_name_the_cluster_calls_it_by(tmp_path: Path) -> None:
    async with running(tmp_path, name="badges.example.com") as (served, endpoint):
        assert served.address.startswith("https://badges.example.com:")
        here = replace(endpoint, host="127.0.0.1", tls_server_name="badges.example.com")
        assert (await asked(here)).status == 405


async def test_certificates_are_renewed_under_way_and_whoever_wrote_them_down_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(certificates, "RENEWAL_LOOK_SECONDS", 0.01)
    now = datetime.now(UTC) - timedelta(days=340)
    told: asyncio.Queue[Served] = asyncio.Queue()
    trust = Trust(tmp_path / "pki")
    async with serving([app()], trust, Place(port=0), renewed=told.put_nowait, now=lambda: now) as served:
        (guest,) = served.guests.values()
        before = endpoint_of(served.config(guest), tmp_path)
        first = await _shown(before)
        now = datetime.now(UTC)
        async with asyncio.timeout(10):
            assert await told.get() is served
        after = endpoint_of(served.config(guest), tmp_path)
        second = await _shown(after)
        assert first != second
        assert (await before.credentials.proof()).certificate != (await after.credentials.proof()).certificate
        assert (await asked(before)).status == 405
    assert told.empty()


async def _shown(endpoint: Endpoint) -> bytes:
    """The certificate that the server shows."""
    proof = await endpoint.credentials.proof()
    context = client_context(endpoint, proof.certificate)
    _, writer = await asyncio.open_connection(endpoint.host, endpoint.port, ssl=context)
    found: bytes = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
    writer.close()
    await writer.wait_closed()
    return found
