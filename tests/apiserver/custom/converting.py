"""A conversion webhook behind real TLS that does what a test tells it, and the definition that names it.

Address is the resource: `v1` keeps `spec.hostPort`, `v2` keeps `spec.host` and `spec.port`.
"""

from __future__ import annotations

import asyncio
import ssl
from base64 import b64encode
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from tests.client.authority import Authority
from tests.client.scripted import Asked, Reply, Scripted

Json = dict[str, Any]
Twist = Callable[[Json], Json | bytes | int]
"""From the right answer to the one that is given: a review, a body, or a status without one."""

GROUP = "net.example.com"
NAME = f"addresses.{GROUP}"
AUTHORITY = Authority("converters")
V1_SPEC: Json = {
    "type": "object",
    "properties": {"hostPort": {"type": "string"}, "replicas": {"type": "integer"}, "mode": {"type": "string"}},
}
V2_SPEC: Json = {
    "type": "object",
    "properties": {
        "host": {"type": "string"},
        "port": {"type": "string"},
        "count": {"type": "integer"},
        "mode": {"type": "string", "default": "open"},
    },
}
STATUS: Json = {"type": "object", "properties": {"seen": {"type": "string"}, "replicas": {"type": "integer"}}}


def honest(review: Json) -> Json:
    """The answer that is right."""
    return review


@dataclass
class Converting:
    """A running converter: how it misbehaves now, and what it was asked."""

    server: Scripted
    twist: Twist = honest
    reviews: list[Json] = field(default_factory=list)
    answers: asyncio.Event = field(default_factory=asyncio.Event)
    """While this is not set, it says nothing."""
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    """Set whenever it is asked something."""

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.server.port}/convert"

    def sizes(self) -> list[int]:
        """How many objects each question so far was about; forgets them."""
        found = [len(review["request"]["objects"]) for review in self.reviews]
        self.reviews.clear()
        return found


@asynccontextmanager
async def converting(folder: Path, *names: str) -> AsyncIterator[Converting]:
    """A converter at 127.0.0.1, whose certificate has these other names too."""
    cert, key = AUTHORITY.issue("converter", alternatives=("127.0.0.1", *names))
    (folder / "converter.pem").write_bytes(cert + key)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "converter.pem")

    writers: list[asyncio.StreamWriter] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        await state.server._serve(reader, writer)

    async def answer(asked: Asked, reply: Reply) -> None:
        review = orjson.loads(asked.body)
        state.reviews.append(review)
        state.asked.set()
        await state.answers.wait()
        said = state.twist(_answered(review))
        if isinstance(said, int):
            await reply.answer(b"{}", status=said)
        else:
            await reply.answer(said if isinstance(said, bytes) else orjson.dumps(said))

    state = Converting(Scripted(answer))
    state.answers.set()
    async with await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context) as server:
        state.server.port = server.sockets[0].getsockname()[1]
        yield state
        # Servers keep connections for the next question, which will not come.
        for writer in writers:
            writer.transport.abort()
    await state.server.wait_until_open(0)


def _answered(review: Json) -> Json:
    request = review["request"]
    objects = [_converted(obj, request["desiredAPIVersion"]) for obj in request["objects"]]
    response = {"uid": request["uid"], "result": {"status": "Success"}, "convertedObjects": objects}
    return {"apiVersion": review["apiVersion"], "kind": review["kind"], "response": response}


def _converted(obj: Json, desired: str) -> Json:
    new = {**obj, "apiVersion": desired}
    spec = dict(obj.get("spec") or {})
    if desired.endswith("/v2") and "hostPort" in spec:
        spec["host"], _, spec["port"] = spec.pop("hostPort").partition(":")
    elif desired.endswith("/v1") and spec.keys() & {"host", "port"}:
        # Who manages fields has objects converted of which parts are missing.
        spec["hostPort"] = f"{spec.pop('host', '')}:{spec.pop('port', '')}"
    old, fresh = ("replicas", "count") if desired.endswith("/v2") else ("count", "replicas")
    if old in spec:
        spec[fresh] = spec.pop(old)
    return {**new, "spec": spec} if "spec" in obj else new


def definition(url: str, *, stored: str = "v1", bundle: bytes = AUTHORITY.pem, **webhook: Any) -> Json:
    """Addresses in two versions, of which one is stored."""
    config = {"url": url, "caBundle": b64encode(bundle).decode()}
    conversion = {"clientConfig": config, "conversionReviewVersions": ["v1"]} | webhook
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": NAME},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {"plural": "addresses", "kind": "Address"},
            "conversion": {"strategy": "Webhook", "webhook": conversion},
            "versions": [
                _version("v1", V1_SPEC, ".spec.hostPort", ".spec.replicas", stored),
                _version("v2", V2_SPEC, ".spec.host", ".spec.count", stored),
            ],
        },
    }


def _version(name: str, spec: Json, shown: str, replicas: str, stored: str) -> Json:
    scale = {"specReplicasPath": replicas, "statusReplicasPath": ".status.replicas"}
    return {
        "name": name,
        "served": True,
        "storage": name == stored,
        "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec, "status": STATUS}}},
        "subresources": {"status": {}, "scale": scale},
        "additionalPrinterColumns": [{"name": "Where", "type": "string", "jsonPath": shown}],
        "selectableFields": [{"jsonPath": shown}],
    }


def addresses(version: str, name: str = "", part: str = "") -> str:
    """The path of the addresses of the namespace default, or of one of them."""
    path = f"/apis/{GROUP}/{version}/namespaces/default/addresses"
    return "/".join(filter(None, (path, name, part)))


def address(name: str = "a", *, version: str = "v1", **spec: Any) -> Json:
    return {
        "apiVersion": f"{GROUP}/{version}",
        "kind": "Address",
        "metadata": {"name": name},
        "spec": spec or ({"hostPort": "h:1"} if version == "v1" else {"host": "h", "port": "1"}),
    }
