"""Asking guests over real TLS: those who answer, and those who hang, redirect, lie or pour."""

from __future__ import annotations

import asyncio
import gzip
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import orjson
import pytest
import yaml

from hardpoint.client.credentials import ClientCertificate, FixedCredentials, Proof
from hardpoint.client.webhook import ANSWER_BYTES_MAX, Webhook
from hardpoint.machinery.errors import ConfigError, ContractBroken, GuestError, Unavailable

from .authority import Authority
from .scripted import Asked, Reply, Script, Scripted, scripted

SERVERS = Authority("servers")
STRANGERS = Authority("strangers")
CLIENTS = Authority("clients")
CANARY = "c4n4ry-4nsw3r"
TOKEN = "s3cr3t-t0k3n"


@asynccontextmanager
async def guest(
    script: Script,
    folder: Path,
    *,
    name: str = "127.0.0.1",
    authority: Authority = SERVERS,
    wants_certificate: bool = False,
) -> AsyncIterator[Scripted]:
    cert, key = authority.issue("guest", alternatives=(name,))
    (folder / "guest.pem").write_bytes(cert + key)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "guest.pem")
    if wants_certificate:
        context.load_verify_locations(cadata=CLIENTS.pem.decode())
        context.verify_mode = ssl.CERT_REQUIRED
    async with scripted(script, context=context) as server:
        yield server


def asking(server: Scripted, path: str = "/review") -> Webhook:
    token = FixedCredentials(Proof((("authorization", f"Bearer {TOKEN}"),)))
    return Webhook.at("test", f"https://127.0.0.1:{server.port}{path}", ca_pem=SERVERS.pem, credentials=token)


async def echo(asked: Asked, reply: Reply) -> None:
    await reply.answer(orjson.dumps({"asked": orjson.loads(asked.body), "at": asked.target}))


async def test_an_object_goes_and_an_object_comes(tmp_path: Path) -> None:
    async with guest(echo, tmp_path) as server, asking(server) as webhook:
        answer = await webhook.post({"kind": "Review"}, patience_seconds=5)
        again = await webhook.post(b'{"kind":"Encoded"}', patience_seconds=2.5)
    assert answer == {"asked": {"kind": "Review"}, "at": "/review?timeout=5s"}
    assert again == {"asked": {"kind": "Encoded"}, "at": "/review?timeout=2.5s"}
    assert [asked.connection for asked in server.asked] == [1, 1]
    assert server.asked[0].header("content-type") == "application/json"
    assert server.asked[0].header("authorization") == f"Bearer {TOKEN}"
    assert server.asked[0].header("accept-encoding") is None


@pytest.mark.parametrize(("path", "asked_at"), [("", "/"), ("/", "/"), ("/a/b", "/a/b"), ("/a/", "/a")])
async def test_the_path_is_the_one_configured(tmp_path: Path, path: str, asked_at: str) -> None:
    async with guest(echo, tmp_path) as server, asking(server, path) as webhook:
        assert (await webhook.post({}, patience_seconds=5))["at"] == f"{asked_at}?timeout=5s"


async def test_a_kubeconfig_says_where_and_who(tmp_path: Path) -> None:
    (tmp_path / "ca.crt").write_bytes(SERVERS.pem)
    for file, content in zip(("me.crt", "me.key"), CLIENTS.issue("api-server"), strict=True):
        (tmp_path / file).write_bytes(content)
    async with guest(echo, tmp_path, wants_certificate=True) as server:
        config = {
            "clusters": [
                {
                    "name": "guest",
                    "cluster": {"server": f"https://127.0.0.1:{server.port}/in", "certificate-authority": "ca.crt"},
                }
            ],
            "users": [{"name": "us", "user": {"client-certificate": "me.crt", "client-key": "me.key"}}],
            "contexts": [{"name": "it", "context": {"cluster": "guest", "user": "us"}}],
            "current-context": "it",
        }
        file = tmp_path / "webhook.yaml"
        file.write_text(yaml.safe_dump(config))
        async with Webhook.from_kubeconfig("test", file) as webhook:
            assert (await webhook.post({}, patience_seconds=5))["at"] == "/in?timeout=5s"


async def status(asked: Asked, reply: Reply) -> None:
    await reply.answer(CANARY.encode(), status=int(asked.target.partition("?")[0].strip("/")))


@pytest.mark.parametrize(
    ("code", "error"),
    [
        *((code, Unavailable) for code in (408, 425, 429, 500, 502, 503, 504)),
        *((code, ContractBroken) for code in (301, 302, 307, 308, 400, 401, 403, 404, 422)),
    ],
)
async def test_a_status_that_says_no(tmp_path: Path, code: int, error: type[GuestError]) -> None:
    async with guest(status, tmp_path) as server, asking(server, f"/{code}") as webhook:
        with pytest.raises(error, match=f"test guest .* answered {code}") as raised:
            await webhook.post({}, patience_seconds=5)
    assert CANARY not in _all_of(raised.value)
    assert len(server.asked) == 1


async def test_a_redirect_is_not_followed(tmp_path: Path) -> None:
    async with guest(echo, tmp_path) as elsewhere:

        async def redirect(asked: Asked, reply: Reply) -> None:
            await reply.answer(status=307, headers=f"location: https://127.0.0.1:{elsewhere.port}/\r\n")

        async with guest(redirect, tmp_path) as server, asking(server) as webhook:
            with pytest.raises(ContractBroken, match="redirects are not followed"):
                await webhook.post({}, patience_seconds=5)
        assert elsewhere.connections == 0


def answering(body: bytes, headers: str = "") -> Script:
    async def script(asked: Asked, reply: Reply) -> None:
        await reply.answer(body, headers=headers)

    return script


async def nonsense(asked: Asked, reply: Reply) -> None:
    await reply.send(f"{CANARY}\r\n\r\n".encode())


async def cut(asked: Asked, reply: Reply) -> None:
    await reply.send(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{")
    reply.cut()


async def pour(asked: Asked, reply: Reply) -> None:
    await reply.start_chunks()
    for _ in range(200):
        await reply.chunk(b" " * 65536)


@pytest.mark.parametrize(
    ("script", "error", "words"),
    [
        pytest.param(answering(b"[]"), ContractBroken, "JSON that is not an object", id="list"),
        pytest.param(answering(b"null"), ContractBroken, "JSON that is not an object", id="null"),
        pytest.param(answering(CANARY.encode()), ContractBroken, "not JSON", id="text"),
        pytest.param(answering(b""), ContractBroken, "not JSON", id="nothing"),
        pytest.param(answering(b'{"a":"' + CANARY.encode()), ContractBroken, "not JSON", id="half an object"),
        pytest.param(
            answering(gzip.compress(b"{}"), "content-encoding: gzip\r\n"), ContractBroken, "compressed", id="gzip"
        ),
        pytest.param(answering(b" " * (ANSWER_BYTES_MAX + 1)), ContractBroken, "more than 3145728 bytes", id="large"),
        pytest.param(pour, ContractBroken, "more than 3145728 bytes", id="13 MB in chunks"),
        pytest.param(nonsense, ContractBroken, "did not answer in HTTP", id="not HTTP"),
        pytest.param(cut, Unavailable, "cannot be reached: the connection was closed", id="cut"),
    ],
)
async def test_an_answer_no_webhook_may_give(
    tmp_path: Path, script: Script, error: type[GuestError], words: str
) -> None:
    async with guest(script, tmp_path) as server, asking(server) as webhook:
        with pytest.raises(error, match=words) as raised:
            await webhook.post({}, patience_seconds=5)
    assert CANARY not in _all_of(raised.value)
    assert TOKEN not in _all_of(raised.value)


async def test_a_guest_that_only_takes_may_answer_anything(tmp_path: Path) -> None:
    async with guest(answering(b"thanks"), tmp_path) as server, asking(server) as webhook:
        await webhook.tell({}, patience_seconds=5)


async def test_a_guest_that_hangs_is_given_up_in_time(tmp_path: Path) -> None:
    async def hang(asked: Asked, reply: Reply) -> None:
        await reply.say_nothing_until_the_client_leaves()

    async with guest(hang, tmp_path) as server, asking(server) as webhook, asyncio.timeout(5):
        with pytest.raises(Unavailable, match=r"gave no complete answer in 0\.05 s"):
            await webhook.post({}, patience_seconds=0.05)


async def test_a_guest_that_drips_is_given_up_in_time(tmp_path: Path) -> None:
    async def drip(asked: Asked, reply: Reply) -> None:
        await reply.start_chunks()
        for _ in range(100):
            await reply.chunk(b" ")
            await asyncio.sleep(0.01)

    async with guest(drip, tmp_path) as server, asking(server) as webhook, asyncio.timeout(5):
        with pytest.raises(Unavailable, match="gave no complete answer"):
            await webhook.post({}, patience_seconds=0.1)


async def test_a_connection_cut_before_the_answer_is_asked_again_once(tmp_path: Path) -> None:
    async def cut_first(asked: Asked, reply: Reply) -> None:
        if asked.connection == 1:
            reply.cut()
        else:
            await echo(asked, reply)

    async with guest(cut_first, tmp_path) as server, asking(server) as webhook:
        assert (await webhook.post({"n": 1}, patience_seconds=5))["asked"] == {"n": 1}
    assert len(server.asked) == 2


@pytest.mark.parametrize(
    ("name", "authority"),
    [
        pytest.param("127.0.0.1", STRANGERS, id="another authority"),
        pytest.param("example.com", SERVERS, id="another name"),
    ],
)
async def test_an_impostor_is_told_nothing(tmp_path: Path, name: str, authority: Authority) -> None:
    async with guest(echo, tmp_path, name=name, authority=authority) as server, asking(server) as webhook:
        with pytest.raises(Unavailable, match="its certificate is not trusted"):
            await webhook.post({}, patience_seconds=5)
    assert server.asked == []


@pytest.mark.parametrize(
    "url",
    ["http://127.0.0.1:1", "ftp://h", "https://", "https://u:p@h", "https://h?q=1", "https://h#f", "https://h:99999"],
)
def test_an_address_that_cannot_work_is_refused(url: str) -> None:
    with pytest.raises(ConfigError):
        Webhook.at("test", url)


async def test_a_client_certificate_is_shown(tmp_path: Path) -> None:
    mine = FixedCredentials(Proof(certificate=ClientCertificate(*CLIENTS.issue("me"))))
    async with guest(echo, tmp_path, wants_certificate=True) as server:
        url = f"https://127.0.0.1:{server.port}"
        async with Webhook.at("test", url, ca_pem=SERVERS.pem, credentials=mine) as webhook:
            assert await webhook.post({}, patience_seconds=5)
        async with Webhook.at("test", url, ca_pem=SERVERS.pem) as webhook:
            with pytest.raises(Unavailable):
                await webhook.post({}, patience_seconds=5)


def _all_of(error: BaseException | None) -> str:
    """The error's text and that of everything behind it."""
    texts = []
    while error is not None:
        texts.append(f"{error} {error.args}")
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return "\n".join(texts)
