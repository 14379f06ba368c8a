"""Following a collection: every event once and in order, whatever is cut, repeated or forgotten."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Literal

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardpoint.client.backoff import Backoff
from hardpoint.client.events import INITIAL_EVENTS_END, LINE_BYTES_MAX, Event, Lines, read_events
from hardpoint.client.picture import Picture, State
from hardpoint.client.transport import BadAnswer, Interrupted, Stream
from hardpoint.client.watch import Pace, follow, watch_from
from hardpoint.machinery import errors
from hardpoint.machinery.errors import ApiError

from .reader import Reader

Json = dict[str, Any]
Act = tuple[Literal["write", "delete", "compact"], str]
Fault = Literal["clean end", "reset", "server error", "early end"]


class Finished(Exception):
    """The play is over: nothing more will happen to the collection."""


@dataclass
class Toy:
    """A small collection with a history. Each watch lives for so many events, then fails in its way.

    Acts happen while it is watched, and some of them before a watch begins.
    """

    acts: list[Act]
    lives: list[tuple[int, Fault]] = field(default_factory=list)
    streams: Literal["yes", "refused", "ignored"] = "yes"
    unseen_acts: list[int] = field(default_factory=list)
    expiries: list[bool] = field(default_factory=list)
    where: str = "toys"
    revision: int = 1
    floor: int = 0
    objects: dict[str, Json] = field(default_factory=dict)
    history: list[tuple[int, Event]] = field(default_factory=list)
    watches: list[Mapping[str, str]] = field(default_factory=list)
    lists: int = 0

    def act(self) -> None:
        if not self.acts:
            raise Finished
        what, name = self.acts.pop(0)
        if what == "compact":
            self.floor = self.revision
            return
        before = self.objects.get(name)
        if what == "delete" and before is None:
            return
        self.revision += 1
        uid = before["metadata"]["uid"] if before else f"uid-{self.revision}"
        after = {"metadata": {"name": name, "uid": uid, "resourceVersion": str(self.revision)}}
        if what == "delete":
            del self.objects[name]
            self.history.append((self.revision, Event("DELETED", after)))
        else:
            self.objects[name] = after
            self.history.append((self.revision, Event("MODIFIED" if before else "ADDED", after)))

    async def pages(self) -> AsyncGenerator[Json, None]:
        """Pages of two, and now and then a moment that is forgotten between them."""
        self.lists += 1
        whole = await self.read_whole()
        for start in range(0, max(len(whole["items"]), 1), 2):
            if start and self.expiries and self.expiries.pop():
                raise errors.expired("the continue token is too old")
            more = {"continue": "more"} if start + 2 < len(whole["items"]) else {}
            yield {"metadata": whole["metadata"] | more, "items": whole["items"][start : start + 2]}

    async def read_whole(self) -> Json:
        return {"metadata": {"resourceVersion": str(self.revision)}, "items": list(self.objects.values())}

    @asynccontextmanager
    async def watch(self, query: Mapping[str, str]) -> AsyncIterator[AsyncIterator[list[Event]]]:
        self.watches.append(query)
        for _ in range(min(self.unseen_acts.pop(0) if self.unseen_acts else 0, len(self.acts))):
            self.act()
        if "sendInitialEvents" in query and self.streams == "refused":
            raise ApiError(422, "Invalid", "sendInitialEvents is forbidden")
        async with aclosing(self._events(query)) as batches:
            yield batches

    async def _events(self, query: Mapping[str, str]) -> AsyncGenerator[list[Event], None]:
        life, fault = self.lives.pop(0) if self.lives else (1_000_000, "clean end")
        for told, event in enumerate(self._all_events(query)):
            if told == life:
                if fault == "clean end":
                    return
                raise Interrupted("toys", "reset") if fault == "reset" else ApiError(500, "InternalError", "hiccup")
            yield [event]

    def _all_events(self, query: Mapping[str, str]) -> Any:
        after = int(query.get("resourceVersion") or self.revision)
        if "sendInitialEvents" in query:
            yield from [Event("ADDED", found) for found in self.objects.values()]
            end = {INITIAL_EVENTS_END: "true"} if self.streams == "yes" else {}
            yield Event("BOOKMARK", {"metadata": {"resourceVersion": str(after), "annotations": end}})
        while True:
            if after < self.floor:
                raise errors.expired(f"too old resource version: {after} ({self.floor})")
            for revision, event in self.history:
                if revision > after:
                    after = revision
                    yield event
            self.act()


async def read_all(reader: Reader, events: AsyncGenerator[Event, None]) -> None:
    async with aclosing(events):
        with suppress(Finished):
            async for event in events:
                reader.take_in(event)


def quick(slept: list[float] | None = None) -> Pace:
    async def sleep(seconds: float) -> None:
        if slept is not None:
            slept.append(seconds)

    return Pace(sleep=sleep, random=lambda: 0.5, watch_seconds_min=0.0)


names = st.sampled_from("abcd")
acts = st.lists(st.tuples(st.sampled_from(["write", "write", "delete"]), names), max_size=40)
acts_and_compactions = st.lists(st.tuples(st.sampled_from(["write", "write", "delete", "compact"]), names), max_size=40)
lives = st.lists(st.tuples(st.integers(0, 6), st.sampled_from(["clean end", "reset", "server error"])), max_size=12)
streams = st.sampled_from(["yes", "refused", "ignored"])


@settings(max_examples=300, deadline=None)
@given(acts_and_compactions, lives, streams, st.lists(st.integers(0, 6), max_size=12), st.lists(st.booleans()))
async def test_what_is_told_always_adds_up(
    happens: list[Act],
    cuts: list[tuple[int, Fault]],
    stream: Literal["yes", "refused", "ignored"],
    unseen: list[int],
    expiries: list[bool],
) -> None:
    toy = Toy(list(happens), list(cuts), stream, list(unseen), list(expiries))
    reader = Reader()
    await read_all(reader, follow(toy, quick()))
    assert reader.objects == toy.objects
    assert reader.synced >= 1


@settings(max_examples=200, deadline=None)
@given(acts, lives, st.lists(st.integers(0, 3), max_size=12))
async def test_without_compaction_every_event_comes_once_and_in_order(
    happens: list[Act], cuts: list[tuple[int, Fault]], unseen: list[int]
) -> None:
    toy, reader = Toy(list(happens), [(1, "clean end"), *cuts], unseen_acts=[0, *unseen]), Reader()
    await read_all(reader, follow(toy, quick()))
    toy_too = Toy(list(happens), list(cuts), unseen_acts=list(unseen))
    told: list[Event] = []
    async with aclosing(watch_from(toy_too, "1", quick())) as events:
        with suppress(Finished):
            async for event in events:
                told.append(event)
    assert reader.told == [event for _, event in toy.history]
    assert told == [event for _, event in toy_too.history]


async def test_a_forgotten_version_is_bridged_by_what_changed() -> None:
    first: list[Act] = [("write", "stays"), ("write", "goes"), ("write", "changes"), ("write", "reborn")]
    missed: list[Act] = [("delete", "goes"), ("write", "changes"), ("delete", "reborn"), ("write", "reborn")]
    toy, reader = Toy([*first, *missed, ("write", "comes"), ("compact", "")], lives=[(5, "reset")]), Reader()
    for _ in first:
        toy.act()

    async def miss_some(seconds: float) -> None:
        while len(toy.acts) > 0:
            toy.act()

    await read_all(reader, follow(toy, Pace(sleep=miss_some, random=lambda: 0.0)))
    assert [(event.type, event.object["metadata"]["name"]) for event in reader.told[4:]] == [
        ("MODIFIED", "changes"),
        ("DELETED", "reborn"),
        ("ADDED", "reborn"),
        ("ADDED", "comes"),
        ("DELETED", "goes"),
    ]
    assert reader.synced == 2
    assert reader.objects == toy.objects
    gone = reader.told[-1]
    assert gone.object == {"metadata": {"name": "goes", "uid": "uid-3", "resourceVersion": "3"}}, "no more is kept"
    assert [event.is_missed for event in reader.told[4:]] == [False, True, False, False, True]


async def test_who_is_interrupted_between_two_changes_goes_on_from_there() -> None:
    toy, picture, reader = Toy([("write", "a"), ("write", "b"), ("write", "a"), ("delete", "b")]), Picture(), Reader()
    is_over = False
    while not is_over:
        async with aclosing(follow(toy, quick(), picture)) as events:
            try:
                reader.take_in(await anext(events))
            except Finished:
                is_over = True
    assert reader.objects == toy.objects
    assert (reader.synced, reader.told) == (1, [event for _, event in toy.history])


async def test_bookmarks_are_told_to_those_who_want_them() -> None:
    bookmark = Event("BOOKMARK", {"metadata": {"resourceVersion": "7"}})
    for wants in (False, True):
        picture = Picture(tells_bookmarks=wants)
        complete(picture)
        assert list(picture.take_in(bookmark)) == ([bookmark] if wants else [])
        assert picture.resource_version == "7"


async def test_a_watch_that_repeats_the_past_changes_nothing() -> None:
    def event(kind: Any, uid: str, version: int) -> Event:
        return Event(kind, {"metadata": {"name": "a", "uid": uid, "resourceVersion": str(version)}})

    picture = Picture()
    complete(picture)
    history = [event("ADDED", "1", 6), event("MODIFIED", "1", 7), event("DELETED", "1", 8), event("ADDED", "2", 9)]
    assert [change for each in history for change in picture.take_in(each)] == history
    assert [change for each in history for change in picture.take_in(each)] == []
    assert picture.resource_version == "9"


async def test_what_goes_between_two_halves_of_a_streaming_list_is_told() -> None:
    toy = Toy([("write", "a"), ("write", "b"), ("delete", "a")], lives=[(1, "reset")], unseen_acts=[2, 1])
    reader = Reader()
    await read_all(reader, follow(toy, quick()))
    assert [(event.type, event.object["metadata"]["name"]) for event in reader.told] == [
        ("ADDED", "a"),
        ("ADDED", "b"),
        ("DELETED", "a"),
    ]


async def test_watch_says_when_the_server_has_forgotten() -> None:
    toy = Toy([("write", "a"), ("write", "a"), ("compact", "")])
    while toy.acts:
        toy.act()
    with pytest.raises(ApiError) as gone:
        await anext(watch_from(toy, "1", quick()))
    assert gone.value.code == 410


async def test_a_server_without_streaming_lists_is_asked_for_one_once() -> None:
    toy = Toy([("write", "a"), ("compact", ""), ("write", "b")], [(1, "clean end")], "refused")
    await read_all(Reader(), follow(toy, quick()))
    assert sum("sendInitialEvents" in query for query in toy.watches) == 1
    assert toy.lists == 1


async def test_a_streaming_list_that_never_ends_is_given_up() -> None:
    class Endless(Toy):
        async def _events(self, query: Mapping[str, str]) -> AsyncGenerator[list[Event], None]:
            if "sendInitialEvents" in query:
                yield [Event("ADDED", found) for found in self.objects.values()]
                await asyncio.Event().wait()
            async for batch in super()._events(query):
                yield batch

    toy, reader = Endless([("write", "a"), ("write", "b")]), Reader()
    toy.act()
    await read_all(reader, follow(toy, Pace(streaming_pause_seconds_max=0.01)))
    assert reader.objects == toy.objects
    assert (reader.synced, toy.lists) == (1, 1)


async def test_a_silent_watch_is_replaced_at_once() -> None:
    class Deaf(Toy):
        async def _events(self, query: Mapping[str, str]) -> AsyncGenerator[list[Event], None]:
            if len(self.watches) == 2:
                await asyncio.Event().wait()
            async for batch in super()._events(query):
                yield batch

    slept: list[float] = []
    toy, reader = Deaf([("write", "a")], [(1, "clean end")]), Reader()
    pace = quick(slept)
    await read_all(reader, follow(toy, Pace(idle_seconds_max=0.01, sleep=pace.sleep, random=pace.random)))
    assert (len(toy.watches), slept) == (3, [])
    assert reader.objects == toy.objects


def complete(picture: Picture) -> None:
    assert [event.type for event in picture.take_in_page({"metadata": {"resourceVersion": "5"}, "items": []})] == [
        "SYNCED"
    ]


@pytest.mark.parametrize("code", [400, 401, 403, 404, 405, 406, 422])
async def test_a_hopeless_answer_is_raised_at_first_and_waited_out_later(code: int) -> None:
    refused = ApiError(code, "", "no")
    assert Picture().react_to(ApiError(401, "", ""), 0).name == "RAISE"
    listing = Picture()
    listing.react_to(ApiError(422, "", ""), 0)
    assert listing.state is State.LISTING
    assert listing.react_to(refused, 0).name == "RAISE"
    complete(listing)
    assert listing.react_to(refused, 0).name == "ASK_LATER"
    assert listing.state is State.WATCHING


@pytest.mark.parametrize(
    ("code", "state"),
    [(429, "STREAMING"), (500, "LISTING"), (503, "LISTING"), (422, "LISTING"), (410, "STREAMING")],
)
async def test_a_streaming_list_that_fails_is_given_up_unless_a_list_would_fail_too(code: int, state: str) -> None:
    picture = Picture()
    picture.react_to(ApiError(code, "", "no"), 0)
    assert picture.state.name == state


async def test_a_list_that_begins_again_forgets_what_it_has_seen() -> None:
    class Shrinking(Toy):
        async def read_whole(self) -> Json:
            whole = await super().read_whole()
            self.objects.pop("a", None)
            return whole

    toy, reader = Shrinking([("write", name) for name in "abcd"], streams="refused", expiries=[True]), Reader()
    while toy.acts:
        toy.act()
    await read_all(reader, follow(toy, quick()))
    assert [(event.type, event.object["metadata"]["name"]) for event in reader.told] == [
        *(("ADDED", name) for name in "abcd"),
        ("DELETED", "a"),
    ]


async def test_a_watch_the_server_keeps_failing_is_started_over() -> None:
    picture = Picture()
    complete(picture)
    for failures in range(5):
        picture.react_to(errors.internal_error("etcd is away"), failures)
        assert picture.state is State.WATCHING
    picture.react_to(Interrupted("server", "a cut says nothing about the version"), 9)
    assert picture.state is State.WATCHING
    picture.react_to(errors.internal_error("etcd is away"), 5)
    assert picture.state is State.STREAMING


async def test_a_version_from_the_future_is_forgotten_too() -> None:
    picture = Picture()
    complete(picture)
    assert picture.react_to(errors.version_too_large(5, 3), 0).name == "ASK_NOW"
    assert picture.state is State.STREAMING


async def test_forgetting_again_and_again_does_not_become_a_hot_loop() -> None:
    class Amnesiac(Toy):
        async def _events(self, query: Mapping[str, str]) -> AsyncGenerator[list[Event], None]:
            if len(self.watches) == 20:
                raise Finished
            if "sendInitialEvents" not in query:
                raise errors.expired("too old")
            yield [
                Event("BOOKMARK", {"metadata": {"resourceVersion": "1", "annotations": {INITIAL_EVENTS_END: "true"}}})
            ]

    slept: list[float] = []
    await read_all(Reader(), follow(Amnesiac([]), quick(slept)))
    assert len(slept) == 8
    assert slept == sorted(slept)


async def test_watches_that_end_at_once_are_not_hammered() -> None:
    class Closing(Toy):
        async def _events(self, query: Mapping[str, str]) -> AsyncGenerator[list[Event], None]:
            if len(self.watches) == 6:
                raise Finished
            return
            yield []

    slept: list[float] = []
    pace = quick(slept)
    await read_all(Reader(), follow(Closing([]), Pace(sleep=pace.sleep, random=pace.random, now=lambda: 0.0)))
    assert slept == pytest.approx([1.2, 2.4, 4.8, 9.6, 19.2])


def test_waits_double_up_to_a_bound_and_are_spread_by_chance() -> None:
    waits = Backoff(lambda: 0.0)
    assert [waits.next_seconds() for _ in range(8)] == [0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30.0, 30.0]
    waits.reset()
    assert waits.next_seconds() == 0.8
    assert Backoff(lambda: 0.999).next_seconds() == pytest.approx(1.5992)


async def test_what_a_watch_asks_for() -> None:
    toy = Toy([("write", "a")], [(1, "clean end")])
    await read_all(Reader(), follow(toy, quick()))
    first, second = toy.watches
    assert first == {
        "sendInitialEvents": "true",
        "resourceVersionMatch": "NotOlderThan",
        "allowWatchBookmarks": "true",
        "timeoutSeconds": "450",
    }
    assert second == {"resourceVersion": "1", "allowWatchBookmarks": "true", "timeoutSeconds": "450"}


async def test_leaving_a_follower_leaves_its_watch() -> None:
    left = asyncio.Event()

    class Leaving(Toy):
        async def _events(self, query: Mapping[str, str]) -> AsyncGenerator[list[Event], None]:
            try:
                async for batch in super()._events(query):
                    yield batch
            finally:
                left.set()

    toy = Leaving([("write", "a"), ("write", "b")])
    async with aclosing(follow(toy, quick())) as events:
        assert (await anext(events)).type == "SYNCED"
        assert (await anext(events)).type == "ADDED"
        assert not left.is_set()
    assert left.is_set()


# Lines and events.


@given(st.lists(st.binary(min_size=1).filter(lambda line: b"\n" not in line)), st.integers(1, 50), st.binary())
def test_lines_come_whole_whatever_the_chunks(whole: list[bytes], step: int, rest: bytes) -> None:
    data = b"".join(line + b"\n" for line in whole) + rest.replace(b"\n", b"")
    lines = Lines("here")
    chunks = [data[start : start + step] for start in range(0, len(data), step)]
    assert [line for chunk in chunks for line in lines.feed(chunk)] == whole


def test_a_line_that_never_ends_is_refused() -> None:
    lines = Lines("here")
    half = b"x" * (LINE_BYTES_MAX // 2 + 1)
    lines.feed(half)
    with pytest.raises(BadAnswer, match="one event has more than"):
        lines.feed(half)


async def events_in(*chunks: bytes) -> list[list[Event]]:
    async def said() -> AsyncIterator[bytes]:
        for chunk in chunks:
            yield chunk

    return [batch async for batch in read_events(Stream(200, {}, said()), "here")]


async def test_events_come_in_batches_and_errors_after_what_preceded_them() -> None:
    one = orjson.dumps({"type": "ADDED", "object": {"metadata": {"name": "a"}}}) + b"\n"
    error = orjson.dumps({"type": "ERROR", "object": errors.expired("too old").status()}) + b"\n"
    assert [len(batch) for batch in await events_in(one + one, one)] == [2, 1]
    seen: list[Event] = []

    async def said() -> AsyncIterator[bytes]:
        yield one + error

    async def read() -> None:
        async for batch in read_events(Stream(200, {}, said()), "here"):
            seen.extend(batch)

    with pytest.raises(ApiError, match="too old"):
        await read()
    assert len(seen) == 1


@pytest.mark.parametrize(
    "line",
    [
        b'{"type":"BOOKMARK","object":{"metadata":3}}',
        b'{"type":"ERROR","object":[]}',
        b"{",
        b"[]",
        b"{}",
        b'{"type":"ADDED"}',
        b'{"type":"ADDED","object":{}}',
        b'{"type":"ODD","object":{}}',
        b'"x"',
    ],
)
async def test_nonsense_in_a_watch_is_an_error_with_a_name(line: bytes) -> None:
    with pytest.raises(BadAnswer, match="here: a line of the watch is no event"):
        await events_in(line + b"\n")
