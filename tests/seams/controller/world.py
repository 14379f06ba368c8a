"""A real API server in memory with a custom resource, controllers over it, and words to wait for what they do."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, ClassVar, Self

from hardpoint.apiserver.server import ApiServer
from hardpoint.client.client import Client
from hardpoint.machinery.errors import ApiError
from hardpoint.machinery.messages import Request, Response
from hardpoint.runtime.environment import Environment
from hardpoint.runtime.informers import Informers
from hardpoint.runtime.reconciler import Reconciler
from hardpoint.seams.controller.guest.controller import ControllerGuest
from hardpoint.seams.controller.guest.work import at_work
from hardpoint.store.memory import MemoryStore
from tests.observing import ADMIN, Observed

Json = dict[str, Any]


class Widget:
    """What an author's class looks like from below: typed where it knows, and keeping what it does not."""

    api_version: ClassVar[str] = "example.com/v1"
    kind: ClassVar[str] = "Widget"

    def __init__(self, json: Json) -> None:
        self.json = json
        self.name: str = json["metadata"]["name"]
        self.size: int = json["spec"]["size"]
        self.status: Json = json.get("status") or {}

    @classmethod
    def from_json(cls, json: Json) -> Self:
        if not isinstance(json["spec"].get("size"), int):
            raise ValueError("spec.size must be a number")
        return cls(json)

    def to_json(self) -> Json:
        return {**self.json, "status": self.status} if self.status else self.json


def widget(name: str = "a", *, size: Any = 1, **metadata: Any) -> Json:
    return {
        "apiVersion": "example.com/v1",
        "kind": "Widget",
        "metadata": {"name": name, **metadata},
        "spec": {"size": size},
    }


def config_map(name: str, **data: str) -> Json:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


class Recorded:
    """Remembers what people would be told."""

    def __init__(self, happened: Callable[[], None]) -> None:
        self.events: list[tuple[str, str, str, str]] = []
        self._happened = happened

    def event(self, about: Json, type: str, reason: str, message: str, *, action: str = "") -> None:
        self.events.append((about["metadata"]["name"], type, reason, message))
        self._happened()


class World(Observed):
    """What a test sees: a client of its own, what controllers asked for, and when something happened."""

    def __init__(self, server: ApiServer) -> None:
        super().__init__(server)
        # What a test asks for itself is not among what controllers wrote.
        self.client = Client.in_process(server.handle, ADMIN)
        self.recorded = Recorded(self.happened)
        self.writes: list[tuple[str, str]] = []
        """Method and path of what controllers wrote."""
        self.before: Callable[[Request], Awaitable[None]] | None = None
        self.after: Callable[[Request], Awaitable[None]] | None = None
        """What is done before a controller's request reaches the server, and before it hears the answer."""

    async def create(self, body: Json, **options: Any) -> Json:
        made = await self.client.create(body, **options)
        self.happened()
        return made

    @asynccontextmanager
    async def controlled(self, *guests: ControllerGuest, **changed: Any) -> AsyncIterator[list[Reconciler]]:
        """Run controllers until left; each begins from nothing."""
        client = self.another_client()
        environment = replace(Environment(client, Informers(client), self.recorded), **changed)
        async with environment.informers.running(), asyncio.TaskGroup() as tasks:
            reconcilers = [await at_work(guest, environment) for guest in guests]
            running = [tasks.create_task(_run(each)) for each in reconcilers]
            try:
                yield reconcilers
            finally:
                for task in running:
                    task.cancel()

    async def handle(self, request: Request) -> Response:
        if self.before is not None:
            await self.before(request)
        response = await super().handle(request)
        if request.method != "GET":
            self.writes.append((request.method, request.path))
        if self.after is not None:
            await self.after(request)
        return response


async def _run(reconciler: Reconciler) -> None:
    async with reconciler.listening():
        await reconciler.run()


@asynccontextmanager
async def world(*definitions: Json) -> AsyncIterator[World]:
    """A server that serves these kinds."""
    store = MemoryStore()
    async with ApiServer(store).running() as server:
        made = World(server)
        for each in definitions:
            await made.client.create(each)
            await made.until(lambda each=each: _is_served(made.client, each))  # type: ignore[misc] # bound at once
        yield made
    await store.close()


async def _is_served(client: Client, definition: Json) -> bool:
    try:
        await client.list(f"example.com/v1 {definition['spec']['names']['kind']}", namespace="")
    except ApiError:
        await asyncio.sleep(0.005)  # Nobody tells when a path begins to be served.
        return await _is_served(client, definition)
    return True
