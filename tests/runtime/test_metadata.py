"""Following everything: what is told, and what happens when the resources themselves change."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import orjson
import pytest

from hardpoint.apiserver.server import ApiServer
from hardpoint.client.client import Client
from hardpoint.client.events import Event
from hardpoint.client.resources import Resource
from hardpoint.machinery.errors import ApiError
from hardpoint.machinery.kinds import builtin
from hardpoint.machinery.messages import Handler, Request, Response, User
from hardpoint.runtime.metadata import MetadataFollower, followable
from hardpoint.store.memory import MemoryStore

ADMIN = User("admin", ("system:masters",))
CONFIG_MAPS = Resource("v1", "configmaps", "ConfigMap")


class Server:
    """A real server whose discovery can be made to hide, fail or go stale."""

    def __init__(self, handle: Handler) -> None:
        self._handle = handle
        self.hides = ""
        self.is_stale = False
        self.fails = 0
        self.refuses = ""
        self.client = Client.in_process(handle, ADMIN)
        self._asked = asyncio.Condition()

    async def until_discovered_twice(self) -> None:
        """The second time, whatever followed from the first has been done."""
        async with asyncio.timeout(10), self._asked:
            for _ in range(2):
                await self._asked.wait()

    async def handle(self, request: Request) -> Response:
        if request.path == "/api":
            async with self._asked:
                self._asked.notify_all()
        if request.path == "/api" and self.fails:
            self.fails -= 1
            return Response(403, orjson.dumps(ApiError(403, "Forbidden", "not now").status()))
        if self.refuses and request.path.endswith(self.refuses):
            return Response(403, orjson.dumps(ApiError(403, "Forbidden", "not that").status()))
        response = await self._handle(request)
        if request.path == "/api":
            document = orjson.loads(response.body)
            (version,) = document["items"][0]["versions"]
            version["resources"] = [each for each in version["resources"] if each["resource"] != self.hides]
            version["freshness"] = "Stale" if self.is_stale else "Current"
            response.body = orjson.dumps(document)
        return response

    async def make(self, name: str) -> None:
        await self.client.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}})


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    async with ApiServer(MemoryStore()).running() as api:
        yield Server(api.handle)


class Seen:
    """A sink that can be waited for."""

    def __init__(self) -> None:
        self.told: list[tuple[str, str]] = []
        self._news = asyncio.Event()

    def saw(self, resource: Resource, event: Event) -> None:
        assert event.object["kind"] == "PartialObjectMetadata"
        assert set(event.object) == {"apiVersion", "kind", "metadata"}
        # The server has some of its own elsewhere.
        if resource == CONFIG_MAPS and event.object["metadata"]["namespace"] == "default":
            self._note(event.type, event.object["metadata"]["name"])

    def lost(self, resource: Resource) -> None:
        self._note("LOST", resource.plural)

    async def until(self, what: str, name: str) -> None:
        async with asyncio.timeout(10):
            while (what, name) not in self.told:
                self._news.clear()
                await self._news.wait()

    def _note(self, what: str, name: str) -> None:
        self.told.append((what, name))
        self._news.set()


@asynccontextmanager
async def following(server: Server) -> AsyncIterator[tuple[MetadataFollower, Seen]]:
    client = Client.in_process(server.handle, ADMIN)
    follower, seen = MetadataFollower(client, rediscover_seconds=0.01), Seen()
    follower.subscribe(seen)
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(follower.run())
        async with asyncio.timeout(10):
            await follower.wait_until_synced()
        yield follower, seen
        running.cancel()


async def test_what_there_is_and_what_changes_is_told_in_order(server: Server) -> None:
    await server.make("a")
    async with following(server) as (_, seen):
        assert seen.told == [("ADDED", "a")]
        await server.client.patch("configmaps", "a", {"data": {"x": "y"}})
        await server.client.delete("configmaps", "a")
        await seen.until("DELETED", "a")
    assert seen.told == [("ADDED", "a"), ("MODIFIED", "a"), ("DELETED", "a")]


async def test_a_resource_that_appears_is_followed(server: Server) -> None:
    server.hides = "configmaps"
    await server.make("a")
    async with following(server) as (_, seen):
        assert seen.told == []
        server.hides = ""
        await seen.until("ADDED", "a")


async def test_a_resource_that_goes_is_lost(server: Server) -> None:
    async with following(server) as (_, seen):
        server.hides = "configmaps"
        await seen.until("LOST", "configmaps")
        await server.make("a")
    assert seen.told == [("LOST", "configmaps")]


async def test_a_resource_of_a_group_that_is_away_is_not_lost(server: Server) -> None:
    """Its server may come back, and nothing of it has gone meanwhile."""
    async with following(server) as (_, seen):
        server.hides, server.is_stale = "configmaps", True
        await server.until_discovered_twice()
        await server.make("a")
        await seen.until("ADDED", "a")
    assert seen.told == [("ADDED", "a")]


async def test_a_server_that_is_not_ready_is_waited_for(server: Server) -> None:
    server.fails = 1
    await server.make("a")
    async with following(server) as (_, seen):
        assert seen.told == [("ADDED", "a")]


async def test_a_resource_that_is_refused_keeps_nobody_waiting(server: Server) -> None:
    """Once it is allowed, it is followed like the others."""
    server.refuses = "/configmaps"
    async with following(server) as (_, seen):
        server.refuses = ""
        await server.make("a")
        await seen.until("ADDED", "a")


def test_each_resource_is_followed_once_and_events_never() -> None:
    found = [kind.resource for kind in followable(builtin())]
    assert len(found) == len(set(found))
    assert {"pods", "deployments.apps", "horizontalpodautoscalers.autoscaling"} <= set(found)
    assert not any("events" in name for name in found)
    assert not any(name.startswith(("subjectaccessreviews", "componentstatuses", "bindings")) for name in found)
