"""A server whose audit events can be read as they are made."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import orjson

from hardpoint.apiserver.audit.auditor import Auditor
from hardpoint.apiserver.audit.log import LogBackend, Mode
from hardpoint.apiserver.audit.policy import WRITES_ONLY, Policy
from hardpoint.apiserver.audit.policyfile import parse_policy
from hardpoint.apiserver.server import ApiServer
from hardpoint.store.memory import MemoryStore
from tests.apiserver.asking import Api

Json = dict[str, Any]


class Lines:
    """An output that keeps what it is given, or fails if told to."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []
        self.failure: OSError | None = None
        self._attempt = threading.Event()

    def write(self, lines: Sequence[bytes]) -> None:
        try:
            if self.failure is not None:
                raise self.failure
            self.lines += lines
        finally:
            self._attempt.set()

    async def wait_until_attempted(self) -> None:
        """Return when somebody has tried to write since this was last asked."""
        assert await asyncio.to_thread(self._attempt.wait, 10.0)
        self._attempt.clear()

    def close(self) -> None:
        """There is nothing to close."""

    def events(self) -> list[Json]:
        return [orjson.loads(line) for line in self.lines]


def policy(*rules: str, head: str = "") -> Policy:
    """A policy from its rules in YAML's flow style: `policy("level: Metadata, verbs: [get]")`."""
    listed = "".join(f"- {{{rule}}}\n" for rule in rules)
    return parse_policy(f"apiVersion: audit.k8s.io/v1\nkind: Policy\n{head}rules:\n{listed}".encode())


@asynccontextmanager
async def audited(
    rules: Policy = WRITES_ONLY, *, mode: Mode = "blocking", tells_refusals: bool = False
) -> AsyncIterator[tuple[Api, Lines]]:
    """A server that is audited by a policy, seen by its admin, and what it has told since it was ready."""
    lines = Lines()
    log = LogBackend(lines, form="json", mode=mode, buffer_max=1000)
    auditor = Auditor(rules, [log], tells_refusals=tells_refusals)
    async with auditor.running(), ApiServer(MemoryStore(), auditor=auditor).running() as server:
        if mode == "batch" and rules is not WRITES_ONLY:
            await lines.wait_until_attempted()
        lines.lines.clear()
        yield Api(server), lines
