"""A page of a list as the bytes that leave: the objects themselves, a Table of them, or their metadata.

Where the objects themselves leave, nothing is decoded. Where they are transformed they are decoded a few at a time,
and what becomes of them is encoded at once: ten thousand objects that are alive together keep the garbage collector
busy for longer than all the rest takes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import orjson

from hardpoint.apiserver import answers
from hardpoint.apiserver.call import Call
from hardpoint.apiserver.negotiation import Form
from hardpoint.apiserver.threads import LARGE_BYTES, beside
from hardpoint.apiserver.traits import list_kind
from hardpoint.machinery.jsontext import encode
from hardpoint.store.contract import KeyValue

Json = dict[str, Any]

TURN = 500
"""So many objects are worked on before others get their turn."""

_ALIVE_MAX = 10
# The order or the words of these kinds' rows depend on the other rows, so they are made together.
_SEEN_TOGETHER = frozenset(("FlowSchema", "StorageClass"))


async def as_objects(call: Call, items: Sequence[KeyValue], meta: Json) -> bytes:
    """The page as a list of its kind."""
    place = call.place
    head = b'{"kind":"%b","apiVersion":"%b","metadata":%b,"items":[' % (
        list_kind(call.kind).encode(),
        call.kind.api_version.encode(),
        orjson.dumps(meta),
    )
    parts: list[bytes] = []
    for start in range(0, len(items), TURN):
        if start:
            await asyncio.sleep(0)
        parts += [place.item(item.value, item.revision) for item in items[start : start + TURN]]
    return _enclosed(head, parts)


async def as_transformed(call: Call, form: Form, items: Sequence[KeyValue], meta: Json) -> bytes:
    """The page as a Table or as metadata."""
    alive = len(items) if call.kind.known_as in _SEEN_TOGETHER else _ALIVE_MAX
    grows = "rows" if form.transform == "Table" else "items"
    whole = await _transformed(call, form, items[:alive], meta)
    if len(items) <= alive:
        return encode(whole)
    parts = [_members(whole.pop(grows))]
    for start in range(alive, len(items), alive):
        if start % TURN == 0:
            await asyncio.sleep(0)
        parts.append(_members((await _transformed(call, form, items[start : start + alive], meta))[grows]))
    return _enclosed(encode(whole)[:-1] + b',"%b":[' % grows.encode(), parts)


async def _transformed(call: Call, form: Form, items: Sequence[KeyValue], meta: Json) -> Json:
    """What columns of a stranger find in large objects takes a while, and is found in a thread."""
    place = call.place

    def transformed() -> Json:
        return answers.transformed(call, form, [place.found(item) for item in items], meta)

    is_slow = call.kind.structure is not None and sum(len(item.value) for item in items) > LARGE_BYTES
    return await beside(transformed) if is_slow else transformed()


def _members(values: list[Json]) -> bytes:
    """The JSON of a list without its brackets."""
    return encode(values)[1:-1]


def _enclosed(head: bytes, parts: list[bytes]) -> bytes:
    """The parts with commas between them and the end of a list and its object behind them, copied only once."""
    if not parts:
        return head + b"]}"
    parts[0] = head + parts[0]
    parts[-1] += b"]}"
    return b",".join(parts)
