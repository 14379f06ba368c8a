"""One document from one address, within bounds, whoever answers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from hardpoint.client.fetch import get_json
from hardpoint.client.transport import BadAnswer, TimedOut, TransportError, Unreachable
from hardpoint.machinery.errors import ConfigError
from hardpoint.machinery.messages import Request, Response
from hardpoint.serving import serve
from hardpoint.serving.certificates import Pki, Wanted, ensure
from hardpoint.serving.tls import serving_context

SECRET = b"canary"


async def _hang() -> Response:
    await asyncio.Event().wait()
    raise AssertionError("nobody wakes it")


async def answer(request: Request) -> Response:
    """Every way of answering, by path."""
    if request.path == "/hang":
        return await _hang()
    answers = {
        "/good": Response(200, b'{"asked":"' + f"{request.path}?{request.query}".encode() + b'"}'),
        "/moved": Response(302, SECRET, headers=(("Location", "/good"),)),
        "/gone": Response(404, SECRET),
        "/broken": Response(500, SECRET),
        "/words": Response(200, SECRET),
        "/list": Response(200, b'["canary"]'),
        "/packed": Response(200, SECRET, headers=(("Content-Encoding", "gzip"),)),
        "/huge": Response(200, b'{"x":"' + b"y" * 2_000_000 + b'"}'),
    }
    return answers[request.path]


@pytest.fixture(scope="module")
def pki(tmp_path_factory: pytest.TempPathFactory) -> Pki:
    wanted = (
        Wanted("ca", "ca", "documents", "authority"),
        Wanted("server", "ca", "server", "server", names=("127.0.0.1",)),
        Wanted("other", "ca", "other", "server", names=("other.example.com",)),
    )
    return ensure(tmp_path_factory.mktemp("fetch"), wanted, datetime.now(UTC))


@pytest.fixture
async def address(pki: Pki) -> AsyncIterator[str]:
    context = serving_context(pki.certificate("server"), pki.key("server"), None)
    async with await serve(answer, ssl_context=context) as server:
        yield f"https://127.0.0.1:{server.port}"


def authority(pki: Pki, name: str = "ca") -> bytes:
    path: Path = pki.certificate(name)
    return path.read_bytes()


async def test_a_document(address: str, pki: Pki) -> None:
    assert await get_json(f"{address}/good?a=b", ca_pem=authority(pki)) == {"asked": "/good?a=b"}


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/moved", "answered 302; redirects are not followed"),
        ("/gone", "answered 404"),
        ("/broken", "answered 500"),
        ("/words", "is not JSON"),
        ("/list", "is JSON, but not an object"),
        ("/packed", "compressed"),
        ("/huge", "has more than 1048576 bytes"),
    ],
)
async def test_answers_that_are_no_document(address: str, pki: Pki, path: str, words: str) -> None:
    with pytest.raises(BadAnswer, match=words) as caught:
        await get_json(address + path, ca_pem=authority(pki))
    assert "canary" not in str(caught.value)


async def test_no_answer_in_time(address: str, pki: Pki) -> None:
    with pytest.raises(TimedOut):
        await get_json(f"{address}/hang", ca_pem=authority(pki), patience_seconds=0.1)


async def test_nobody_there(pki: Pki) -> None:
    with pytest.raises(Unreachable):
        await get_json("https://127.0.0.1:1/good", ca_pem=authority(pki))


async def test_whoever_is_not_the_one_is_not_asked(pki: Pki, address: str, tmp_path: Path) -> None:
    stranger = ensure(tmp_path, (Wanted("ca", "ca", "documents", "authority"),), datetime.now(UTC))
    with pytest.raises(TransportError, match="not trusted"):
        await get_json(f"{address}/good", ca_pem=authority(stranger))
    context = serving_context(pki.certificate("other"), pki.key("other"), None)
    async with await serve(answer, ssl_context=context) as server:
        with pytest.raises(TransportError, match="not trusted"):
            await get_json(f"https://127.0.0.1:{server.port}/good", ca_pem=authority(pki))


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1/x", "https://", "https://u:p@127.0.0.1/x", "https://h:x/", "ftp://h/", "", "https://h/\n"]
)
async def test_what_is_no_address(url: str) -> None:
    with pytest.raises(ConfigError):
        await get_json(url)
