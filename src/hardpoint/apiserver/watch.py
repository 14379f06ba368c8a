"""Watch a collection: a stream of lines, one event each.

Events are relative to the selection: an object that begins to match is ADDED, one that ceases to is DELETED. The line
of an event is made once and shared by all watchers of the same form. Errors after the first byte are ERROR events.
"""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Sequence
from time import monotonic
from typing import Any

import orjson

from hardpoint.apiserver import answers
from hardpoint.apiserver.call import Call
from hardpoint.apiserver.freshness import wait_until_reached
from hardpoint.apiserver.hub import Change, FellBehind
from hardpoint.apiserver.negotiation import Form
from hardpoint.apiserver.options import ListOptions, list_options, resource_version
from hardpoint.apiserver.selection import Selection, select
from hardpoint.apiserver.storefailures import store_failure
from hardpoint.machinery import errors
from hardpoint.machinery.errors import ApiError, StoreError
from hardpoint.machinery.jsontext import encode
from hardpoint.machinery.kinds import Kind
from hardpoint.machinery.messages import Response
from hardpoint.machinery.partial import partial_metadata
from hardpoint.store.contract import Compacted, Page

Json = dict[str, Any]

BOOKMARK_SECONDS = 60.0
LAST_BOOKMARK_SECONDS = 2.0
DURATION_SECONDS = (1800.0, 3600.0)
_END = {"k8s.io/initial-events-end": "true"}
_LINES_PER_CHUNK = 500


async def watch(call: Call) -> Response:
    """The stream, once everything that can be refused has been."""
    options = list_options(call.request.query, watch=True)
    form = answers.form_of(call, watch=True)
    selection = select(call, options)
    start = resource_version(options.resource_version)
    return Response(200, stream=_Watcher(call, options, form, selection).lines(start))


class _Watcher:
    """One watch and the form its lines have."""

    def __init__(self, call: Call, options: ListOptions, form: Form, selection: Selection) -> None:
        self._call = call
        self._options = options
        self._form = form
        self._selection = selection
        self._place = call.place
        self._said_columns = False
        # A line depends on the transform and on the kind's face, and on nothing else of this watcher.
        self._form_name = (call.kind.api_version, form.transform, form.version)
        duration = options.timeout_seconds or random.uniform(*DURATION_SECONDS)  # noqa: S311 # spreads reconnects
        self._deadline = monotonic() + duration
        last = duration - LAST_BOOKMARK_SECONDS
        self._next_bookmark = monotonic() + (min(BOOKMARK_SECONDS, last) if last > 0 else BOOKMARK_SECONDS)

    async def lines(self, start: int) -> AsyncIterator[bytes]:
        try:
            after, told_bytes = start, 0
            if self._sends_initial_events(start):
                if start:
                    await wait_until_reached(self._call.services.store, start)
                async for chunk, revision in self._initial():
                    after = revision
                    told_bytes += len(chunk)
                    if chunk:
                        yield chunk
            else:
                after = start or await self._call.services.store.revision()
                yield b""  # Sends the headers: clients wait for them before they believe in the watch.
            if self._call.opened is not None:
                self._call.opened(told_bytes)
            async for chunk in self._live(after):
                yield chunk
        except Compacted as gone:
            yield _error(errors.expired(f"too old resource version: {gone.revision} ({gone.floor})"))
        except ApiError as refused:
            yield _error(refused)
        except FellBehind:
            return
        except StoreError as failed:
            yield _error(store_failure(failed))

    def _sends_initial_events(self, start: int) -> bool:
        if self._options.initial_events is not None:
            return self._options.initial_events
        return start == 0

    async def _initial(self) -> AsyncIterator[tuple[bytes, int]]:
        """The present state as ADDED events, then the bookmark that ends it."""
        selection, start, revision = self._selection, "", 0
        while True:
            page = await self._page(start, revision)
            revision = page.revision
            lines = [
                self._line("ADDED", found.value, found.revision)
                for found in await self._place.bring_all(page.items)
                if not selection.needs_object or selection.matches(self._place.found(found))
            ]
            yield b"".join(lines), revision
            if not page.more:
                break
            start = page.items[-1].key + "\0"
        if self._options.initial_events and self._options.bookmarks:
            yield self._bookmark(revision, _END), revision

    async def _page(self, start: str, revision: int) -> Page:
        """The next objects of the present state: of one key, or of the whole prefix."""
        store, key = self._call.services.store, self._selection.key
        if not key:
            return await store.range(self._selection.prefix, start=start, limit=_LINES_PER_CHUNK, revision=revision)
        now = await store.revision()
        found = await store.get(key, revision=now)
        return Page((found,) if found else (), now, more=False)

    async def _live(self, after: int) -> AsyncIterator[bytes]:
        hub = self._call.services.hub
        async for told in hub.changes(self._place, after=after, patience_seconds=self._patience_seconds):
            if self._is_converted_otherwise():
                return
            changes = await self._brought(told.changes)
            lines = [line for change in changes if (line := self._changed(change))]
            if lines:
                yield b"".join(lines)
            now = monotonic()
            if now >= self._next_bookmark:
                self._next_bookmark = now + BOOKMARK_SECONDS
                if self._options.bookmarks:
                    yield self._bookmark(told.revision)
            if now >= self._deadline or not self._is_served():
                return

    async def _brought(self, changes: Sequence[Change]) -> Sequence[Change]:
        """The changes in the version of this watcher, those left out that it could not see anyway."""
        crossing = self._place.crossing
        if crossing is None:
            return changes
        selection = self._selection
        seen = [change for change in changes if selection.has_key(change.key)]
        return await crossing.changes(seen, both=selection.needs_object)

    def _is_converted_otherwise(self) -> bool:
        """Whether what is watched has another converter now: the watch ends, and the next one asks that."""
        kind = self._call.kind
        now = self._served(kind) if kind.structure is not None else None
        if now is None or now.structure is None or kind.structure is None:
            return False
        return now.structure.converter is not kind.structure.converter

    def _is_served(self) -> bool:
        """Whether there still is what is watched: a custom resource may go, and its watches end when they notice."""
        kind = self._call.kind
        return kind.structure is None or self._served(kind) is not None

    def _served(self, kind: Kind) -> Kind | None:
        """What a kind is now."""
        return self._call.services.registry.find(kind.group, kind.version, kind.plural)

    def _patience_seconds(self) -> float:
        return max(min(self._next_bookmark, self._deadline) - monotonic(), 0.0)

    def _changed(self, change: Change) -> bytes:
        """The line of a change as this watcher sees it; empty if it does not."""
        selection = self._selection
        if not selection.has_key(change.key):
            return b""
        if selection.needs_object:
            new, old = change.new(self._place), change.old(self._place)
            is_in = new is not None and selection.matches(new)
            was_in = old is not None and selection.matches(old)
        else:
            is_in, was_in = change.value is not None, change.previous is not None
        if is_in:
            return self._shared(change, "MODIFIED" if was_in else "ADDED", change.value)
        return self._shared(change, "DELETED", change.previous) if was_in else b""

    def _shared(self, change: Change, event: str, value: bytes | None) -> bytes:
        assert value is not None, "an object that matches exists"
        if self._form.transform == "Table":
            return self._line(event, value, change.revision)
        return change.form((event, self._form_name), lambda: self._line(event, value, change.revision))

    def _line(self, event: str, value: bytes, revision: int) -> bytes:
        place, is_previous = self._place, event == "DELETED"
        if not self._form.transform:
            wire = (place.wire_previous if is_previous else place.wire)(value, revision)
            return b'{"type":"%b","object":%b}\n' % (event.encode(), wire)
        return self._transformed_line(event, (place.load_previous if is_previous else place.load)(value, revision))

    def _transformed_line(self, event: str, obj: Json) -> bytes:
        shown = answers.transformed(self._call, self._form, [obj], {}, single=True)
        if self._form.transform == "Table":
            if self._said_columns:
                shown["columnDefinitions"] = None
            self._said_columns = True
        return encode({"type": event, "object": shown}) + b"\n"

    def _bookmark(self, revision: int, annotations: Json | None = None) -> bytes:
        kind = self._call.kind
        metadata: Json = {"resourceVersion": str(revision)}
        if annotations:
            metadata["annotations"] = annotations
        obj: Json = {"kind": kind.kind, "apiVersion": kind.api_version, "metadata": metadata}
        if self._form.transform == "Table":
            row = {"cells": [], "object": partial_metadata(obj, self._form.version)}
            obj = {
                "kind": "Table",
                "apiVersion": f"meta.k8s.io/{self._form.version}",
                "metadata": {"resourceVersion": str(revision)},
                "columnDefinitions": None,
                "rows": [row],
            }
        elif self._form.transform:
            obj = partial_metadata(obj, self._form.version)
        return encode({"type": "BOOKMARK", "object": obj}) + b"\n"


def _error(refused: ApiError) -> bytes:
    return orjson.dumps({"type": "ERROR", "object": refused.status()}) + b"\n"
