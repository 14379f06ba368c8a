"""Eight clients that write as fast as they are answered, and write down what they were told."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Iterator
from itertools import count

from tests.chaos.history import Change, Listing, Operation, change, listing
from tests.chaos.process import Server
from tests.chaos.wire import LOST, Json, Wire

WRITERS = 8
CONTESTED = 4
"""So many names are written by everybody; each client also has as many of its own."""
MAPS = "/api/v1/namespaces/default/configmaps"
OURS = "labelSelector=chaos"
MARK = "mark"
MARK_SECONDS_MAX = 10.0

_VERBS = ("create", "update", "patch", "delete", "get")
_OFTEN = (30, 30, 15, 15, 10)
_DONE = (200, 201)
_CAN_BE_REFUSED = (404, 409)


class Workload:
    """What the clients of one round do. It ends when the server goes, or when it is cancelled."""

    def __init__(self, server: Server, chance: random.Random, *, stamps: Iterator[int] | None = None) -> None:
        self.operations: list[Operation] = []
        self.first_answer = asyncio.Event()
        """Set by the first answer, or when no more can come."""
        self._server = server
        self._chance = chance
        self._stamps = stamps or count()

    async def run(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            for client in range(WRITERS):
                tasks.create_task(self._write(client), name=f"writer {client}")
        self.first_answer.set()

    async def _write(self, client: int) -> None:
        own = [f"own-{client}-{number}" for number in range(CONTESTED)]
        names = own + [f"contested-{number}" for number in range(CONTESTED)]
        known: dict[str, int] = {}
        try:
            wire = await Wire.open(self._server)
        except LOST:
            return
        try:
            while True:
                await self._step(wire, client, self._chance.choice(names), known)
        except LOST:
            return
        finally:
            wire.cut()

    async def _step(self, wire: Wire, client: int, name: str, known: dict[str, int]) -> None:
        verb = self._chance.choices(_VERBS, _OFTEN)[0]
        if verb in ("update", "patch") and name not in known:
            verb = "create"
        operation = Operation(client, verb, name, time.monotonic())  # type: ignore[arg-type]  # a closed choice
        if verb in ("create", "update", "patch"):
            operation.stamp = f"{client}-{next(self._stamps)}"
        if verb == "update" or (verb in ("patch", "delete") and name in known and self._chance.random() < 0.5):
            operation.expected = known.get(name, 0)
        self.operations.append(operation)
        await self._ask(wire, operation)
        if operation.outcome == "done" and verb != "delete":
            known[name] = operation.revision
        elif operation.outcome == "done" or operation.status == 404:
            known.pop(name, None)
        elif operation.status == 409:
            await self._look(wire, name, known)

    async def _ask(self, wire: Wire, operation: Operation) -> None:
        method, path, body, content_type = _request(operation)
        answer = await wire.ask(method, path, body, content_type=content_type)
        operation.ended = time.monotonic()
        operation.status = answer.status
        said = answer.json()
        if answer.status in _DONE:
            operation.outcome = "done"
            metadata = said.get("metadata", {})
            operation.revision = int(metadata.get("resourceVersion") or 0)
            operation.uid = metadata.get("uid") or said.get("details", {}).get("uid", "")
            if operation.verb == "get":
                operation.stamp = said.get("data", {}).get("stamp", "")
        elif answer.status in _CAN_BE_REFUSED:
            operation.outcome = "refused"
        else:
            assert answer.status in (500, 503, 504, 507), f"{operation} was answered {said}"
        self.first_answer.set()

    async def _look(self, wire: Wire, name: str, known: dict[str, int]) -> None:
        answer = await wire.ask("GET", f"{MAPS}/{name}")
        if answer.status == 200:
            known[name] = int(answer.json()["metadata"]["resourceVersion"])
        else:
            known.pop(name, None)


def _request(operation: Operation) -> tuple[str, str, Json | bytes, str]:
    path, stamp = f"{MAPS}/{operation.name}", {"stamp": operation.stamp}
    version = {"resourceVersion": str(operation.expected)} if operation.expected else {}
    whole = {"metadata": {"name": operation.name, "labels": {"chaos": "yes"}, **version}, "data": stamp}
    match operation.verb:
        case "create":
            return "POST", MAPS, whole, "application/json"
        case "update":
            return "PUT", path, whole, "application/json"
        case "patch":
            return "PATCH", path, {"metadata": version, "data": stamp}, "application/merge-patch+json"
        case "delete":
            return "DELETE", path, {"preconditions": version} if version else b"", "application/json"
        case "get":
            return "GET", path, b"", "application/json"


async def list_ours(server: Server) -> Listing:
    """Every object of the workload, now."""
    wire = await Wire.open(server)
    try:
        return listing((await wire.ask("GET", f"{MAPS}?{OURS}")).json())
    finally:
        wire.cut()


async def replay(server: Server, before: Listing, after: Listing) -> list[Change] | None:
    """What a watch says happened between two lists; None if the server has forgotten.

    A mark is written behind the second list: when the watch shows it, or fails to, there is no more to come.
    """
    seen: list[Change] = []
    wire = await Wire.open(server)
    try:
        await _mark(server)
        async with asyncio.timeout(MARK_SECONDS_MAX):
            async for event in wire.watch(watching(before.revision)):
                if event["type"] == "ERROR":
                    assert event["object"]["code"] == 410, event
                    return None
                if event["object"]["metadata"]["name"] == MARK and change(event).revision > after.revision:
                    break
                seen.append(change(event))
    except TimeoutError:
        pass
    finally:
        wire.cut()
    return seen


def watching(after: int) -> str:
    """The path of a watch for all that happens to the workload's objects after a revision."""
    return f"{MAPS}?watch=1&{OURS}&resourceVersion={after}"


async def _mark(server: Server) -> None:
    wire = await Wire.open(server)
    try:
        mark = {"metadata": {"name": MARK, "labels": {"chaos": "yes"}}, "data": {"written": str(time.monotonic())}}
        answer = await wire.ask("PUT", f"{MAPS}/{MARK}", mark)
        if answer.status == 404:
            answer = await wire.ask("POST", MAPS, mark)
        assert answer.status in _DONE, answer.body
    finally:
        wire.cut()
