"""What a watch says: newline-delimited JSON, cut out of chunks that know nothing of lines."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any, Literal, NamedTuple

from hardpoint.client.answers import read_json, stated
from hardpoint.client.transport import BadAnswer, Stream
from hardpoint.machinery.errors import ApiError
from hardpoint.machinery.jsonexact import BadJson

Json = dict[str, Any]

EventType = Literal["ADDED", "MODIFIED", "DELETED", "BOOKMARK", "SYNCED"]
INITIAL_EVENTS_END = "k8s.io/initial-events-end"
# Objects have at most 3 MiB when they are sent; escapes may double that, and something follows.
LINE_BYTES_MAX = 16 * 1024 * 1024
# So many are decoded at a time: few enough for a moment, and not all of a long list in memory at once.
BATCH_MAX = 100


class Event(NamedTuple):
    """Something happened to `object`: it was added, modified or deleted.

    BOOKMARK and SYNCED are about the watch itself, and only their object's `metadata.resourceVersion` says anything:
    nothing before it is missing. SYNCED ends each complete picture that a `list_then_watch` has drawn.
    """

    type: EventType
    object: Json
    is_missed: bool = False
    """A deletion that was found out by comparing, so that `object` holds no more than the identity of what is gone."""

    @property
    def resource_version(self) -> str:
        return str(self.object["metadata"].get("resourceVersion", ""))

    @property
    def ends_initial_events(self) -> bool:
        """Whether this is the bookmark after the last of the objects that a watch started with."""
        annotations = self.object["metadata"].get("annotations")
        if self.type != "BOOKMARK" or not isinstance(annotations, dict):
            return False
        return annotations.get(INITIAL_EVENTS_END) == "true"


class Lines:
    """Complete lines out of chunks. What a cut leaves unfinished never comes out."""

    def __init__(self, where: str) -> None:
        self._where = where
        self._rest: list[bytes] = []
        self._rest_bytes = 0

    def feed(self, chunk: bytes) -> list[bytes]:
        first, *others = chunk.split(b"\n")
        self._rest.append(first)
        self._rest_bytes += len(first)
        if self._rest_bytes > LINE_BYTES_MAX:
            raise BadAnswer(self._where, f"one event has more than {LINE_BYTES_MAX} bytes")
        if not others:
            return []
        lines = [b"".join(self._rest), *others[:-1]]
        self._rest, self._rest_bytes = [others[-1]], len(others[-1])
        return [line for line in lines if line]


async def read_events(stream: Stream, where: str) -> AsyncGenerator[list[Event], None]:
    """Events in batches, as they come. Raises ApiError where the server reports one, BadAnswer for nonsense."""
    lines = Lines(where)
    async for chunk in stream.chunks:
        batch: list[Event] = []
        for line in lines.feed(chunk):
            event = _event(line, where)
            if isinstance(event, ApiError):
                if batch:
                    yield batch
                raise event
            batch.append(event)
            if len(batch) == BATCH_MAX:
                yield batch
                batch = []
        if batch:
            yield batch


def _event(line: bytes, where: str) -> Event | ApiError:
    try:
        said = read_json(line)
        kind, found = said["type"], said["object"]
    except (BadJson, KeyError, TypeError) as cause:
        raise BadAnswer(where, "a line of the watch is no event") from cause
    if kind in ("ADDED", "MODIFIED", "DELETED") and is_object(found):
        return Event(kind, found)
    if kind == "BOOKMARK" and isinstance(found, dict) and isinstance(found.get("metadata"), dict):
        return Event("BOOKMARK", found)
    if kind == "ERROR" and isinstance(found, dict):
        return stated(found)
    raise BadAnswer(where, f"a line of the watch is no event: its type is {kind!r}")


def is_object(found: Any) -> bool:
    """Whether it is what every reader of a collection relies on: an object with a name."""
    metadata = found.get("metadata") if isinstance(found, dict) else None
    if not isinstance(metadata, dict) or not isinstance(metadata.get("name"), str):
        return False
    return isinstance(metadata.get("namespace", ""), str)
