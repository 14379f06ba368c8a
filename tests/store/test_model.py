"""Whatever happens, in whatever order, an engine ends up where the model does.

The model is the memory engine. Limits are made tiny, so that watches lag, ranges pause and sweeps take many steps.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test

from hardpoint.machinery.errors import StoreError
from hardpoint.store import feed
from hardpoint.store.contract import Compacted, Event, KeyExists, KeyValue, Mismatch, Page, Store
from hardpoint.store.memory import MemoryStore
from hardpoint.store.sqlite import SqliteStore, compaction, reader
from tests.store.etcd_process import Etcd
from tests.store.places import quick_folder

KEYS = ["/a/1", "/a/10", "/a/2", "/a", "/ab/x", "/b/é", "/b/\U0001f600/deep"]
PREFIXES = ["", "/", "/a", "/a/", "/a/1", "/b/", "/none/"]

keys = st.sampled_from(KEYS)
prefixes = st.sampled_from(PREFIXES)
values = st.binary(max_size=20)


@dataclass
class Watching:
    """A watch on the engine, and where it is in the model's history."""

    prefix: str
    position: int
    """What was awaited up to here has come."""
    delivered: int
    """The last revision that came; the engine need not know that nothing else is to come before `position`."""
    batches: AsyncIterator[Sequence[Event]]
    stack: AsyncExitStack
    surplus: list[Event] = field(default_factory=list)


class Comparison(RuleBasedStateMachine):
    """Does everything twice."""

    open_engine: Callable[[Path], Awaitable[Store]]
    can_reopen: bool

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.stack = ExitStack()
        self.folder = self.stack.enter_context(quick_folder())
        self.model: Store = self.run(make_memory())
        self.engine: Store = self.run(self.open())
        self.offset = self.run(self.engine.revision()) - 1
        self.history: list[Event] = []
        self.floor = 1
        self.watches: list[Watching] = []

    @rule(key=keys, value=values)
    def create(self, key: str, value: bytes) -> None:
        self.write(key, value, None, lambda store, shift: store.create(key, value))

    @rule(key=keys, value=values, is_stale=st.booleans())
    def update(self, key: str, value: bytes, is_stale: bool) -> None:
        before = self.run(self.model.get(key))
        expected = (before.revision if before else 0) - is_stale
        self.write(key, value, before, lambda store, shift: store.update(key, value, expected=shifted(expected, shift)))

    @rule(key=keys, is_stale=st.booleans())
    def delete(self, key: str, is_stale: bool) -> None:
        before = self.run(self.model.get(key))
        expected = (before.revision if before else 0) - is_stale
        self.write(key, None, before, lambda store, shift: store.delete(key, expected=shifted(expected, shift)))

    @rule(key=keys, back=st.integers(-1, 12))
    def get(self, key: str, back: int) -> None:
        revision = self.revision_before(back)
        self.compare(lambda store, shift: store.get(key, revision=shifted(revision, shift)))

    @rule(prefix=prefixes, start=st.one_of(st.just(""), keys), limit=st.integers(0, 4), back=st.integers(-1, 12))
    def range(self, prefix: str, start: str, limit: int, back: int) -> None:
        revision = self.revision_before(back)
        self.compare(
            lambda store, shift: store.range(prefix, start=start, limit=limit, revision=shifted(revision, shift))
        )

    @rule()
    def revision(self) -> None:
        assert self.compare(lambda store, shift: store.revision()) == self.newest()

    @rule(prefix=prefixes)
    def count(self, prefix: str) -> None:
        self.compare(lambda store, shift: counted(store, prefix))

    @rule(back=st.integers(-1, 6))
    def compact(self, back: int) -> None:
        revision = max(1, self.newest() - back)
        self.compare(lambda store, shift: store.compact(revision + shift))
        if revision <= self.newest():
            self.floor = max(self.floor, revision)

    @precondition(lambda self: len(self.watches) < 3)
    @rule(prefix=prefixes, back=st.integers(-1, 12))
    def watch(self, prefix: str, back: int) -> None:
        after = max(1, self.newest() - back)
        self.run(self.begin_to_watch(prefix, after))

    @precondition(lambda self: self.watches)
    @rule(data=st.data())
    def drain(self, data: st.DataObject) -> None:
        watching = data.draw(st.sampled_from(self.watches))
        if not self.run(self.follow(watching)):
            self.watches.remove(watching)

    @precondition(lambda self: self.can_reopen)
    @rule()
    def reopen(self) -> None:
        self.run(self.end_watches())
        self.run(self.engine.close())
        self.engine = self.run(self.open())

    def teardown(self) -> None:
        try:
            for watching in self.watches:
                self.run(self.follow(watching))
        finally:
            self.run(self.end_watches())
            self.run(self.engine.close())
            self.runner.close()
            self.stack.close()

    async def open(self) -> Store:
        return await self.open_engine(self.folder)

    async def begin_to_watch(self, prefix: str, after: int) -> None:
        stack = AsyncExitStack()
        watch = self.engine.watch(prefix, after=after + self.offset)
        try:
            batches = await stack.enter_async_context(watch)
        except Compacted:
            assert after < self.floor, "only what was compacted is refused"
            return
        self.watches.append(Watching(prefix, after, after, batches, stack))

    async def follow(self, watching: Watching) -> bool:
        """Read what must come; False if the watch ended because its past was compacted."""
        awaited = [
            event
            for event in self.history
            if event.revision > watching.position and event.key.startswith(watching.prefix)
        ]
        seen = watching.surplus
        try:
            async with asyncio.timeout(10):
                while len(seen) < len(awaited):
                    seen += [shift_event(event, -self.offset) for event in await anext(watching.batches)]
                    watching.delivered = seen[-1].revision
        except Compacted:
            assert watching.delivered < self.floor, "a watch that was not compacted goes on"
            await watching.stack.aclose()
            return False
        assert seen == awaited
        watching.position = max(watching.position, self.newest())
        watching.surplus = []
        return True

    async def end_watches(self) -> None:
        for watching in self.watches:
            await watching.stack.aclose()
        self.watches.clear()

    def write(self, key: str, value: bytes | None, before: KeyValue | None, act: Act) -> None:
        outcome = self.compare(act)
        if isinstance(outcome, int):
            self.history.append(Event(key, value, outcome, before.value if before else None))

    def compare(self, act: Act) -> Any:
        expected = self.run(outcome_of(act(self.model, 0), 0))
        found = self.run(outcome_of(act(self.engine, self.offset), self.offset))
        assert found == expected
        return expected

    def newest(self) -> int:
        return 1 + len(self.history)

    def revision_before(self, back: int) -> int:
        """A revision that many writes ago; for 0 the present itself, named by no number."""
        return max(1, self.newest() - back) if back else 0

    def run(self, work: Any) -> Any:
        return self.runner.run(work)


Act = Callable[[Store, int], Awaitable[Any]]


async def make_memory() -> Store:
    return MemoryStore()


async def counted(store: Store, prefix: str) -> str:
    """How many keys there are, told so that nobody takes it for a revision."""
    return f"{await store.count(prefix)} keys"


async def outcome_of(work: Awaitable[Any], offset: int) -> Any:
    """What came of it, told in the model's revisions."""
    try:
        outcome = await work
    except Mismatch as refusal:
        return "mismatch", refusal.key, shift_item(refusal.current, -offset)
    except KeyExists as refusal:
        return "exists", refusal.key
    except StoreError as refusal:
        return type(refusal).__name__
    if isinstance(outcome, KeyValue):
        return shift_item(outcome, -offset)
    if isinstance(outcome, Page):
        items = [shift_item(item, -offset) for item in outcome.items]
        return items, outcome.revision - offset, outcome.more
    return outcome - offset if isinstance(outcome, int) and outcome > offset else outcome


def shifted(revision: int, shift: int) -> int:
    return revision + shift if revision > 0 else revision


def shift_item(item: KeyValue | None, shift: int) -> KeyValue | None:
    return item and item._replace(revision=item.revision + shift, created=item.created + shift)


def shift_event(event: Event, shift: int) -> Event:
    return event._replace(revision=event.revision + shift)


@pytest.fixture(autouse=True)
def tiny_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feed, "EVENTS_MAX", 3)
    monkeypatch.setattr(reader, "_EVENTS_ROWS", 2)
    monkeypatch.setattr(reader, "_SLICE_ROWS", 2)
    monkeypatch.setattr(reader, "_SLICE_SECONDS", 0.0)
    monkeypatch.setattr(reader, "_COUNT_ROWS", 2)
    monkeypatch.setattr(compaction, "_STEP_ROWS", 3)


def explore(open_one: Callable[[Path], Awaitable[Store]], *, reopens: bool, examples: int) -> None:
    class Machine(Comparison):
        open_engine = staticmethod(open_one)
        can_reopen = reopens

    bounds = settings(
        max_examples=examples,
        stateful_step_count=40,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(Machine, settings=bounds)


def test_sqlite_agrees_with_the_model() -> None:
    explore(lambda folder: SqliteStore.open(folder / "store"), reopens=True, examples=80)


def test_etcd_agrees_with_the_model(etcd: Etcd) -> None:
    pytest.importorskip("grpc", reason="grpcio is not installed")
    from hardpoint.store.etcd import EtcdStore

    async def open_empty(_folder: Path) -> Store:
        store = await EtcdStore.open([etcd.address])
        for item in (await store.range("")).items:
            await store.delete(item.key, expected=item.revision)
        return store

    explore(open_empty, reopens=False, examples=30)
