"""Webhooks that are asked to decide, and every way they can misbehave.

Each misbehaviour holds the yes that an honest one would give: whoever takes it all the same lets an attacker in.
"""

from __future__ import annotations

import asyncio
import gzip
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import orjson

from hardpoint.serving.certificates import Wanted
from hardpoint.serving.issuing import Issued, issue
from tests.client.scripted import Asked, Reply, Scripted, scripted

Json = dict[str, Any]

FLOOD_BYTES = 5_000_000
BOMB_BYTES = 64_000_000


@dataclass(frozen=True)
class Bait:
    """What an attacker would like to be taken."""

    review: Json
    """The yes that is expected."""
    elsewhere: str
    """An address that says yes to everything."""

    @property
    def yes(self) -> bytes:
        return orjson.dumps(self.review)


Misbehaviour = Callable[[Reply, Bait], Awaitable[None]]


async def hang(reply: Reply, bait: Bait) -> None:
    await reply.say_nothing_until_the_client_leaves()


async def drip(reply: Reply, bait: Bait) -> None:
    """The whole yes comes at once; that it is over never does."""
    await reply.start_chunks()
    await reply.chunk(bait.yes)
    while True:
        await reply.chunk(b" ")
        await asyncio.sleep(0.1)


async def flood(reply: Reply, bait: Bait) -> None:
    await reply.answer(bait.yes + b" " * FLOOD_BYTES)


async def flood_in_chunks(reply: Reply, bait: Bait) -> None:
    await reply.start_chunks()
    await reply.chunk(bait.yes)
    for _ in range(FLOOD_BYTES // 100_000):
        await reply.chunk(b" " * 100_000)
    await reply.end_chunks()


async def bomb(reply: Reply, bait: Bait) -> None:
    await reply.answer(gzip.compress(bait.yes) + _padding(), headers="content-encoding: gzip\r\n")


@cache
def _padding() -> bytes:
    return gzip.compress(b" " * BOMB_BYTES)


async def half_close(reply: Reply, bait: Bait) -> None:
    body = bait.yes
    await reply.send(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%b" % (len(body) + 1, body))
    reply.close()


async def cut(reply: Reply, bait: Bait) -> None:
    reply.cut()


async def two_lengths(reply: Reply, bait: Bait) -> None:
    body = bait.yes
    head = b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\ncontent-length: 2\r\n\r\n" % len(body)
    await reply.send(head + body)


async def no_http(reply: Reply, bait: Bait) -> None:
    await reply.send(bait.yes + b"\r\n\r\n")
    reply.close()


async def deep(reply: Reply, bait: Bait) -> None:
    await reply.answer(b"[" * 1_000_000)


async def in_a_list(reply: Reply, bait: Bait) -> None:
    await reply.answer(b"[%b]" % bait.yes)


async def in_html(reply: Reply, bait: Bait) -> None:
    await reply.answer(b"<html>" + bait.yes)


async def another_kind(reply: Reply, bait: Bait) -> None:
    await reply.answer(orjson.dumps({**bait.review, "kind": "Review"}))


async def another_version(reply: Reply, bait: Bait) -> None:
    await reply.answer(orjson.dumps({**bait.review, "apiVersion": bait.review["apiVersion"].replace("v1", "v2")}))


async def nearly_true(reply: Reply, bait: Bait) -> None:
    """A text that says true, which some languages take for it."""
    status = {name: "true" if value is True else value for name, value in bait.review["status"].items()}
    await reply.answer(orjson.dumps({**bait.review, "status": status}))


def redirecting(status: int) -> Misbehaviour:
    async def redirect(reply: Reply, bait: Bait) -> None:
        await reply.answer(bait.yes, status=status, headers=f"location: {bait.elsewhere}\r\n")

    return redirect


def failing(status: int) -> Misbehaviour:
    async def fail(reply: Reply, bait: Bait) -> None:
        await reply.answer(bait.yes, status=status)

    return fail


_NAMED = (
    *(hang, drip, flood, flood_in_chunks, bomb, half_close, cut, two_lengths, no_http, deep, in_a_list, in_html),
    *(another_kind, another_version, nearly_true),
)
MISBEHAVIOURS: dict[str, Misbehaviour] = {
    **{each.__name__.replace("_", "-"): each for each in _NAMED},
    **{f"redirect-{status}": redirecting(status) for status in (301, 302, 303, 307, 308)},
    **{f"answers-{status}": failing(status) for status in (400, 403, 500, 503)},
}


class Family:
    """An authority that webhooks' certificates come from, and those of impostors."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._now = datetime.now(UTC)
        self._own = _authority("webhooks", self._now)
        self.ca_pem = self._own.certificate_pem

    def honest(self) -> ssl.SSLContext:
        return self._context("honest", self._own, self._now)

    def impostors(self) -> dict[str, ssl.SSLContext | None]:
        """By what is wrong with them; None does not speak TLS at all."""
        long_ago, stranger = self._now - timedelta(days=10), _authority("webhooks", self._now)
        return {
            "expired": self._context("expired", self._own, long_ago),
            "wrong-name": self._context("wrong-name", self._own, self._now, "webhook.example.com"),
            "strangers": self._context("strangers", stranger, self._now),
            "self-signed": self._context("self-signed", None, self._now),
            "a-clients": self._context("a-clients", self._own, self._now, use="client"),
            "plain": None,
        }

    def _context(
        self, name: str, authority: Issued | None, now: datetime, host: str = "127.0.0.1", use: Any = "server"
    ) -> ssl.SSLContext:
        signer = (authority.certificate_pem, authority.key_pem) if authority else None
        issued = issue(Wanted(name, "webhooks", "webhook", use, days=1, names=(host,)), signer, now)
        file = self._folder / f"{name}.pem"
        file.write_bytes(issued.certificate_pem + issued.key_pem)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(file)
        return context


def _authority(name: str, now: datetime) -> Issued:
    return issue(Wanted(name, name, name, "authority"), None, now)


Answers = Callable[[Json], tuple[Json, str]]
"""The honest answer to a review, and the name of what to do in place of giving it."""


class Strangers:
    """Where webhooks are made, and the address that they send the cluster to, which must never be asked."""

    def __init__(self, folder: Path, elsewhere: Scripted, family: Family, token: str, whisper: str) -> None:
        """`token` is what the cluster shows them; `whisper` is in every answer, and nobody should repeat it."""
        self.elsewhere = elsewhere
        self.family = family
        self._folder = folder
        self._token = token
        self._whisper = whisper

    @asynccontextmanager
    async def webhook(self, name: str, answers: Answers, tls: ssl.SSLContext | None) -> AsyncIterator[Path]:
        """Run one. What comes back is the kubeconfig-format file that leads to it."""

        async def script(asked: Asked, reply: Reply) -> None:
            answer, misbehaviour = answers(orjson.loads(asked.body))
            answer["metadata"] = {"name": self._whisper}
            if misbehaviour not in MISBEHAVIOURS:
                await reply.answer(orjson.dumps(answer))
                return
            bait = Bait(answer, f"https://127.0.0.1:{self.elsewhere.port}/review")
            await MISBEHAVIOURS[misbehaviour](reply, bait)

        async with scripted(script, context=tls) as server:
            yield self.kubeconfig(name, server.port)

    def kubeconfig(self, name: str, port: int) -> Path:
        """The file that leads to one on this port."""
        ca, file = self._folder / "webhooks-ca.crt", self._folder / f"{name}.kubeconfig"
        ca.write_bytes(self.family.ca_pem)
        cluster = {"server": f"https://127.0.0.1:{port}/review", "certificate-authority": str(ca)}
        config = {
            "clusters": [{"name": "it", "cluster": cluster}],
            "users": [{"name": "us", "user": {"token": self._token}}],
            "contexts": [{"name": "it", "context": {"cluster": "it", "user": "us"}}],
            "current-context": "it",
        }
        file.write_bytes(orjson.dumps(config))
        return file


@asynccontextmanager
async def strangers(folder: Path, token: str, whisper: str) -> AsyncIterator[Strangers]:
    """Run the place where redirects lead; webhooks are run one by one."""

    async def say_yes(asked: Asked, reply: Reply) -> None:
        review = orjson.loads(asked.body)
        user = {"username": "root", "groups": ["system:masters"]}
        await reply.answer(orjson.dumps({**review, "status": {"allowed": True, "authenticated": True, "user": user}}))

    family = Family(folder)
    async with scripted(say_yes, context=family.honest()) as elsewhere:
        yield Strangers(folder, elsewhere, family, token, whisper)
