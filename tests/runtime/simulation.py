"""Machines in a simulated world: an event loop whose time jumps, clocks that disagree, pauses, and a lossy network.

The Leases live in a server of a few lines that keeps the one promise that matters: a write is refused if somebody wrote
since. Between a machine and the server a request or its answer may take any time, or get lost.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Coroutine, Mapping
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any, TypeVar
from urllib.parse import parse_qs

import orjson

from hardpoint.client.client import Client
from hardpoint.client.inprocess import InProcessTransport
from hardpoint.client.transport import Answer, Interrupted, Unreachable
from hardpoint.machinery import errors
from hardpoint.machinery.errors import ApiError
from hardpoint.machinery.messages import Request, Response, User

Json = dict[str, Any]
T = TypeVar("T")

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)


class _Jumping(selectors.SelectSelector):
    """Instead of waiting, the time passes."""

    seconds = 0.0

    def select(self, timeout: float | None = None) -> Any:
        assert timeout is not None, "everybody waits for somebody else: the simulation stands still"
        self.seconds += max(timeout, 0)
        return super().select(0)


class VirtualLoop(asyncio.SelectorEventLoop):
    """Hours pass in milliseconds."""

    def __init__(self) -> None:
        self._jumping = _Jumping()
        super().__init__(self._jumping)

    def time(self) -> float:
        return self._jumping.seconds


def simulate(world: Coroutine[Any, Any, T]) -> T:
    """Run to the end in virtual time."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(world)


class LeaseServer:
    """Leases by name, in one namespace."""

    def __init__(self) -> None:
        self.leases: dict[str, Json] = {}
        self.revision = 0
        self.writes = 0

    async def handle(self, request: Request) -> Response:
        name = request.path.partition("/leases")[2].strip("/")
        try:
            return Response(200, orjson.dumps(self._answer(request, name)))
        except ApiError as refused:
            return Response(refused.code, orjson.dumps(refused.status()))

    def _answer(self, request: Request, name: str) -> Json:
        if request.method == "GET" and not name:
            return self._list(parse_qs(request.query).get("labelSelector", [""])[0])
        if request.method == "POST":
            return self._stored(orjson.loads(request.body), None)
        there = self.leases.get(name)
        if there is None:
            raise errors.not_found("leases.coordination.k8s.io", name)
        if request.method == "GET":
            return there
        if request.method == "DELETE":
            return self._deleted(name, orjson.loads(request.body))
        return self._stored(orjson.loads(request.body), there)

    def _list(self, selector: str) -> Json:
        wanted = dict(part.split("=") for part in selector.split(",") if part)
        items = [lease for lease in self.leases.values() if wanted.items() <= _labels(lease).items()]
        return {"kind": "LeaseList", "metadata": {"resourceVersion": str(self.revision)}, "items": items}

    def _stored(self, body: Json, there: Json | None) -> Json:
        name = body["metadata"]["name"]
        if there is None and name in self.leases:
            raise errors.already_exists("leases.coordination.k8s.io", name)
        if there is not None and body["metadata"]["resourceVersion"] != there["metadata"]["resourceVersion"]:
            raise errors.conflict("leases.coordination.k8s.io", name, "the object has been modified")
        self.revision += 1
        self.writes += 1
        metadata = {**body["metadata"], "resourceVersion": str(self.revision)}
        metadata.setdefault("uid", f"uid-{self.revision}")
        self.leases[name] = {**body, "metadata": metadata}
        return self.leases[name]

    def _deleted(self, name: str, options: Json) -> Json:
        there = self.leases[name]["metadata"]
        for field, wanted in options.get("preconditions", {}).items():
            if there[field] != wanted:
                raise errors.conflict("leases.coordination.k8s.io", name, f"its {field} is another")
        self.revision += 1
        return self.leases.pop(name)


def _labels(lease: Json) -> dict[str, str]:
    return lease["metadata"].get("labels") or {}


class Machine:
    """A clock, a network card and a process that can be stopped for a while. Its chances come from `random`."""

    def __init__(
        self, name: str, server: LeaseServer, random: Random, *, rate: float = 1.0, offset: float = 0.0
    ) -> None:
        self.name = name
        self.random = random
        self.loss = 0.0
        """How likely it is that a request, or an answer, gets lost."""
        self.delay_seconds_max = 0.05
        self.is_cut = False
        self._rate, self._offset = rate, offset
        self._awake = asyncio.Event()
        self._awake.set()
        self._transport = InProcessTransport(server.handle, User("replica"))
        self.client = Client(self, namespace="default")

    def time(self) -> float:
        return self._offset + self._rate * asyncio.get_running_loop().time()

    def now(self) -> datetime:
        return EPOCH + timedelta(seconds=self.time())

    def jump(self, seconds: float) -> None:
        """Have time passed that nobody noticed."""
        self._offset += seconds

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds / self._rate)
        await self._awake.wait()

    def pause(self) -> None:
        self._awake.clear()

    def resume(self) -> None:
        self._awake.set()

    @property
    def is_paused(self) -> bool:
        return not self._awake.is_set()

    async def request(
        self, method: str, path: str, query: str = "", headers: Mapping[str, str] | None = None, body: bytes = b""
    ) -> Answer:
        """What has been sent goes its way, even if its sender no longer waits for an answer."""
        await self._awake.wait()
        if self.is_cut:
            raise Unreachable(self.name, "the network is cut")
        exchange = asyncio.ensure_future(self._exchange(method, path, query, headers, body))
        exchange.add_done_callback(lambda done: done.cancelled() or done.exception())
        try:
            return await asyncio.shield(exchange)
        finally:
            await self._awake.wait()

    async def _exchange(self, method: str, path: str, query: str, headers: Any, body: bytes) -> Answer:
        await self._travel()
        answer = await self._transport.request(method, path, query, headers, body)
        await self._travel()
        return answer

    async def _travel(self) -> None:
        await asyncio.sleep(self.random.uniform(0, self.delay_seconds_max))
        if self.is_cut or self.random.random() < self.loss:
            raise Interrupted(self.name, "lost on its way")

    def stream(self, *_: Any, **__: Any) -> Any:
        raise AssertionError("nobody watches Leases")

    async def close(self) -> None:
        """Nothing to close."""


async def until(condition: Callable[[], bool], *, seconds: float, step: float = 0.05) -> None:
    """Let virtual time pass until something is so."""
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    while not condition():
        assert loop.time() < end, f"not so after {seconds} s"
        await asyncio.sleep(step)
