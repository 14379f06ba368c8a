"""Whatever a server does that servers do, the cache is the server's state, and nobody is told twice or not at all."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import Any

import orjson
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from hardpoint.runtime import Change, Informers, Key, by_label

from .unreliable import TOYS, Cut, Streams, Unreliable

Json = dict[str, Any]

NAMESPACES = st.sampled_from(["", "one", "two"])
NAMES = st.sampled_from(["a", "b", "c"])
COLOURS = st.sampled_from(["red", "green"])


class Believer:
    """Believes what it is told, and insists that it makes sense."""

    def __init__(self) -> None:
        self.objects: dict[tuple[str, str], Json] = {}
        self.versions: list[int] = []
        self.doubts: list[str] = []

    def __call__(self, change: Change) -> None:
        # What a handler raises is logged and passed over, and a doubt must not be.
        try:
            self._believe(change)
        except AssertionError as doubt:
            self.doubts.append(f"{change}: {doubt}")

    def _believe(self, change: Change) -> None:
        before = self.objects.get(change.key)
        assert (change.type == "ADDED") == (before is None), change
        assert change.old is None or before is not None
        if change.type == "DELETED":
            assert change.new is None
            del self.objects[change.key]
            return
        assert change.new is not None
        if before is not None:
            assert change.old == before, "the old is what was told before"
            assert before["metadata"]["uid"] == change.new["metadata"]["uid"]
            assert int(before["metadata"]["resourceVersion"]) < int(change.new["metadata"]["resourceVersion"])
        self.objects[change.key] = change.new
        self.versions.append(int(change.new["metadata"]["resourceVersion"]))


class FollowingAnUnreliableServer(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.running: AsyncExitStack | None = None
        self.forgot = False

    @initialize(streams=st.sampled_from(["yes", "refused", "ignored"]))
    def begin(self, streams: Streams) -> None:
        self.runner.run(self._begin(streams))

    async def _begin(self, streams: Streams) -> None:
        self.server = Unreliable(streams=streams)
        self.informers = Informers(self.server.client())
        self.informer = self.informers.get(TOYS)
        self.informer.add_index("colour", by_label("colour"))
        self.believers = [Believer()]
        self.informer.subscribe(self.believers[0])
        await self._start()

    async def _start(self) -> None:
        self.running = AsyncExitStack()
        await self.running.enter_async_context(self.informers.running())

    async def _settled(self) -> None:
        self.server.wake()
        async with asyncio.timeout(5):
            await self.informer.wait_until_seen(str(self.server.revision))
        await self._breathe(3)

    async def _breathe(self, turns: int) -> None:
        for _ in range(turns):
            await asyncio.sleep(0)

    @rule(turns=st.integers(0, 20))
    def time_passes(self, turns: int) -> None:
        self.runner.run(self._breathe(turns))

    @rule(namespace=NAMESPACES, name=NAMES, colour=COLOURS, is_noted=st.booleans())
    def write(self, namespace: str, name: str, colour: str, is_noted: bool) -> None:
        async def act() -> None:
            written = self.server.write(namespace, name, colour=colour)
            if is_noted:
                self.informer.note_written(written)
                assert self.informer.read((namespace, name)) == written
                assert written in self.informer.by_index("colour", colour)
                assert written in self.informer.read_all(selector=f"colour={colour}")

        self.runner.run(act())

    @rule(namespace=NAMESPACES, name=NAMES)
    def delete(self, namespace: str, name: str) -> None:
        async def act() -> None:
            self.server.delete(namespace, name)

        self.runner.run(act())

    @rule()
    def compact(self) -> None:
        self.forgot = True
        self.server.compact()

    @rule(how=st.sampled_from(["at a line's end", "inside a line", "with an error"]))
    def cut(self, how: Cut) -> None:
        async def act() -> None:
            self.server.end_watches(how)

        self.runner.run(act())

    @rule(codes=st.lists(st.sampled_from([401, 403, 404, 410, 429, 500, 503]), max_size=7))
    def refuse(self, codes: list[int]) -> None:
        # A server that refuses often enough is asked for everything again, and so events may go untold.
        self.forgot = True
        self.server.refusals = list(codes)

    @rule(count=st.integers(0, 4))
    def repeat(self, count: int) -> None:
        # What is gone may come and go once more.
        self.forgot = True
        self.server.repeats = count

    @rule(count=st.integers(0, 2))
    def expire_lists(self, count: int) -> None:
        self.server.expiries = count

    @rule()
    def subscribe_late(self) -> None:
        async def act() -> None:
            self.believers.append(Believer())
            self.informer.subscribe(self.believers[-1])

        if len(self.believers) < 4:
            self.runner.run(act())

    @precondition(lambda self: self.running is not None)
    @rule()
    def stop(self) -> None:
        async def act() -> None:
            assert self.running is not None
            await self.running.aclose()
            self.running = None

        self.runner.run(act())

    @precondition(lambda self: self.running is None)
    @rule()
    def start(self) -> None:
        self.runner.run(self._start())

    @precondition(lambda self: self.running is not None)
    @rule(acts=st.lists(st.tuples(st.booleans(), NAMES), min_size=1, max_size=5), is_noted=st.booleans())
    def miss_something(self, acts: list[tuple[bool, str]], is_noted: bool) -> None:
        """Be away while things happen that nobody tells later."""
        self.stop()
        for is_write, name in acts:
            if is_write:
                self.write("one", name, "red", is_noted)
            else:
                self.delete("one", name)
        self.compact()
        self.start()

    @precondition(lambda self: self.running is not None)
    @rule(namespace=NAMESPACES, name=NAMES)
    def note_late(self, namespace: str, name: str) -> None:
        """Learn what a write returned when the watch has told of it, and of what came after."""

        async def act() -> None:
            written = self.server.write(namespace, name, colour="red")
            self.server.delete(namespace, name)
            await self._settled()
            self.informer.note_written(written)
            assert self.informer.read((namespace, name)) is None, "it is known to be gone"

        self.runner.run(act())

    @precondition(lambda self: self.running is not None)
    @rule()
    def settle(self) -> None:
        async def act() -> None:
            await self._settled()
            truth = self.server.objects
            assert {Key.of(each): each for each in self.informer.read_all()} == truth
            assert sorted(self.informer.keys()) == sorted(truth)
            assert len(self.informer) == len(truth)
            for colour in ("red", "green"):
                expected = [each for each in truth.values() if each["metadata"]["labels"]["colour"] == colour]
                assert ordered(self.informer.by_index("colour", colour)) == ordered(expected)
                assert ordered(self.informer.read_all(selector=f"colour={colour}")) == ordered(expected)
            for believer in self.believers:
                assert not believer.doubts
                assert believer.objects == truth
            if not self.forgot:
                told = [revision for revision, what, _ in self.server.history if what != "DELETED"]
                assert self.believers[0].versions == told, "nothing was forgotten, so everything was told, in order"

        self.runner.run(act())

    def teardown(self) -> None:
        async def end() -> None:
            if self.running is not None:
                await self.running.aclose()

        try:
            if hasattr(self, "server"):
                if self.running is None:
                    self.start()
                self.settle()
                self.runner.run(end())
        finally:
            self.runner.close()


def ordered(found: list[Json]) -> list[bytes]:
    return sorted(orjson.dumps(each, option=orjson.OPT_SORT_KEYS) for each in found)


TestFollowing = FollowingAnUnreliableServer.TestCase
TestFollowing.settings = settings(max_examples=100, stateful_step_count=40, deadline=None)
