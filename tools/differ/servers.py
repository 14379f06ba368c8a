"""The two servers that are asked, and the question they are asked.

A server is named by a kubeconfig; without one it is an API server of ours that lives in this process. Both start from
the same few objects. Questions carry `<version>` where the resourceVersion of what they change belongs.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from hardpoint.apiserver.server import ApiServer
from hardpoint.client.client import Client
from hardpoint.client.transport import Answer, Interrupted
from hardpoint.machinery.messages import User
from hardpoint.store.memory import MemoryStore
from tools.differ.normal import normalized

NAMESPACE = "differ"
VERSION = "<version>"
TOGETHER = 16
NO_ANSWER = 0
INTERNAL_ERROR = 500
_ADMIN = User("admin", ("system:masters",), uid="admin")
_FIXTURES = (
    ("/api/v1/namespaces", {"metadata": {"name": NAMESPACE}}),
    (f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts", {"metadata": {"name": "default"}}),
    (f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts", {"metadata": {"name": "builder"}}),
    (
        "/apis/node.k8s.io/v1/runtimeclasses",
        {
            "metadata": {"name": "sandbox"},
            "handler": "sandbox",
            "overhead": {"podFixed": {"cpu": "10m"}},
            "scheduling": {"nodeSelector": {"sandboxed": "true"}},
        },
    ),
    ("/apis/scheduling.k8s.io/v1/priorityclasses", {"metadata": {"name": "urgent"}, "value": 1000}),
)


@dataclass(frozen=True, slots=True)
class Question:
    """One request."""

    round: str
    kind: str
    name: str
    method: str
    path: str
    body: Any = None
    query: dict[str, str] = field(default_factory=dict)
    content_type: str = "application/json"
    version_of: str = ""
    """The path of the object whose resourceVersion is put in place of `<version>`."""


@dataclass(frozen=True, slots=True)
class Compared:
    """A question and two answers to it, normalized."""

    question: Question
    wanted: list[Any]
    got: list[Any]

    @property
    def is_same(self) -> bool:
        """Where the reference has no answer, or takes the blame for a client's mistake, any refusal is as good."""
        if self.wanted[0] in (NO_ANSWER, INTERNAL_ERROR) and 400 <= self.got[0] < INTERNAL_ERROR:
            return True
        return self.wanted == self.got


@asynccontextmanager
async def opened(kubeconfig: Path | None) -> AsyncIterator[Client]:
    """A client of a server that has what the questions take for granted."""
    if kubeconfig is not None:
        async with Client.from_kubeconfig(kubeconfig) as client:
            await _furnish(client)
            yield client
        return
    async with ApiServer(MemoryStore()).running() as api, Client.in_process(api.handle, _ADMIN) as client:
        await _furnish(client)
        yield client


async def _furnish(client: Client) -> None:
    for path, body in _FIXTURES:
        await send(client, Question("", "", "", "POST", path, body))


async def compare(reference: Client, other: Client, questions: Sequence[Question]) -> list[Compared]:
    """Ask both, so many questions at a time: none may depend on another."""
    turns = asyncio.Semaphore(TOGETHER)

    async def one(question: Question) -> Compared:
        async with turns:
            wanted, got = await asyncio.gather(send(reference, question), send(other, question))
        return Compared(question, normalized(wanted), normalized(got))

    return list(await asyncio.gather(*map(one, questions)))


async def send(client: Client, question: Question) -> Answer:
    """Ask one server."""
    headers = {"accept": "application/json"}
    body = b""
    if question.body is not None:
        headers["content-type"] = question.content_type
        # Spaces and all: where a body cannot be read, the answer repeats how it begins.
        body = json.dumps(question.body).encode()
        if question.version_of:
            body = body.replace(VERSION.encode(), (await version(client, question.version_of)).encode())
    try:
        return await client.raw(question.method, question.path, query=question.query, headers=headers, body=body)
    except Interrupted:
        # kube-apiserver has rules that crash on some objects; then the connection is all that answers.
        return Answer(NO_ANSWER, {}, b"")


async def version(client: Client, path: str) -> str:
    """The resourceVersion of an object; "" if there is none."""
    answer = await client.raw("GET", path, headers={"accept": "application/json"})
    return str(orjson.loads(answer.body).get("metadata", {}).get("resourceVersion", ""))
