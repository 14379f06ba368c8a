"""Between the version of a custom kind and the one its objects are stored in, where a webhook converts.

What comes from the store is pruned and completed as the version it was stored in says, converted, and pruned as its
new version says; on the way in it is converted and pruned. What already is in the right version is not converted. A
page is converted at once. A change that many watch is converted once for all of them, and they wait for it together.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import orjson

from hardpoint.apiserver.hub import Change
from hardpoint.machinery import errors
from hardpoint.machinery.kinds import Kind
from hardpoint.machinery.stored import to_stored
from hardpoint.machinery.structural import ConversionFailed, Converter
from hardpoint.store.contract import Event, KeyValue

Json = dict[str, Any]

TURN = 200
"""So many objects are worked on before others get their turn."""
_NEVER_STORED = -1
_EMPTY = frozenset(("apiVersion", "kind", "metadata"))


class Crossing:
    """The way of one kind's objects."""

    def __init__(self, kind: Kind, converter: Converter) -> None:
        structure = kind.structure
        assert structure is not None, "only custom kinds are converted by webhooks"
        self._resource = kind.resource
        self._api_version = kind.api_version
        self._structure = structure
        self._converter = converter
        self._under_way: dict[tuple[Change, bool], asyncio.Future[None]] = {}

    async def out(self, found: KeyValue) -> KeyValue:
        """What the store holds, in this version. Raises 500."""
        try:
            return (await self._out((found,)))[0]
        except ConversionFailed as failed:
            raise errors.internal_error(str(failed)) from failed

    async def all_out(self, items: Sequence[KeyValue]) -> list[KeyValue]:
        """As `out`, for the items of a list."""
        try:
            return await self._out(items)
        except ConversionFailed as failed:
            told = f"failed to read one or more {self._resource} from the storage: {failed}"
            raise errors.ApiError(500, "StorageReadError", told) from failed

    async def into(self, obj: Json) -> Json:
        """An object of this version as it is stored. Raises 500."""
        stored = self._structure.stored_as
        if stored is None:
            return obj
        with _refusing():
            (converted,) = await self._converter.convert([_without_version(obj)], stored.api_version)
        return stored.structure.prune(converted)

    async def there_and_back(self, obj: Json) -> Json:
        """An object of this version as it would come back from the store. Raises 500."""
        if self._structure.stored_as is None:
            return obj
        value = to_stored(await self.into(obj))
        with _refusing():
            (back,) = await self._out([KeyValue("", value, _NEVER_STORED, _NEVER_STORED)])
        found: Json = orjson.loads(back.value)
        if (said := obj["metadata"].get("resourceVersion")) is not None:
            found["metadata"]["resourceVersion"] = said
        return found

    async def between(self, obj: Json, api_version: str) -> Json:
        """An object of any version in another, as those see it who manage its fields in that one. Raises 500."""
        source = obj["apiVersion"]
        if obj.keys() <= _EMPTY and not obj.get("metadata"):
            return {**obj, "apiVersion": api_version}
        # As for kube-apiserver, the version of the request is the hub of all others.
        ways = [api_version] if self._api_version in (source, api_version) else [self._api_version, api_version]
        converted = _without_version(obj)
        with _refusing():
            for target in ways:
                (converted,) = await self._converter.convert([converted], target)
        return converted

    async def changes(self, changes: Sequence[Change], *, both: bool) -> list[Change]:
        """The same changes as if this version were stored. Raises 500.

        Only who looks at `both` sides of a change needs what was there before an object that still is.
        """
        name = (self._api_version, both)
        while missing := [change for change in changes if name not in change.versions]:
            mine = [change for change in missing if (change, both) not in self._under_way]
            if mine:
                await self._convert_changes(mine, both=both)
            else:
                # Whoever converts it may fail or be cancelled, and then it is our turn.
                await asyncio.wait([self._under_way[missing[0], both]])
        return [change.versions[name] for change in changes]

    async def _convert_changes(self, changes: Sequence[Change], *, both: bool) -> None:
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        claimed = dict.fromkeys(((change, both) for change in changes), done)
        self._under_way |= claimed
        try:
            for start in range(0, len(changes), TURN):
                await self._convert_some(changes[start : start + TURN], both=both)
        except ConversionFailed as failed:
            raise errors.internal_error(str(failed)) from failed
        finally:
            for claim in claimed:
                del self._under_way[claim]
            done.set_result(None)

    async def _convert_some(self, changes: Sequence[Change], *, both: bool) -> None:
        """Remember with each change what it is in this version."""
        new = [KeyValue(each.key, each.value, each.revision, 0) for each in changes if each.value is not None]
        # When what was there before was written is not told.
        old = [
            KeyValue(each.key, each.previous, _NEVER_STORED, 0)
            for each in changes
            if each.previous is not None and (both or each.value is None)
        ]
        values = iter(await self._out(new + old))
        news = [next(values).value if each.value is not None else None for each in changes]
        for each, value in zip(changes, news, strict=True):
            previous = each.previous
            if previous is not None and (both or value is None):
                previous = next(values).value
            each.versions[self._api_version, both] = Change(Event(each.key, value, each.revision, previous))

    async def _out(self, items: Sequence[KeyValue]) -> list[KeyValue]:
        found = list(items)
        foreign: list[int] = []
        objects: list[Json] = []
        for index, item in enumerate(items):
            await _others_turn(index)
            if item.revision >= self._structure.settled_from:
                continue
            obj, is_ours = self._settled(item.value)
            if is_ours:
                found[index] = item._replace(value=to_stored(obj))
            else:
                foreign.append(index)
                objects.append(obj)
        if objects:
            converted = await self._converter.convert(objects, self._api_version)
            for index, obj in zip(foreign, converted, strict=True):
                await _others_turn(index)
                found[index] = items[index]._replace(value=to_stored(self._structure.prune(obj)))
        return found

    def _settled(self, value: bytes) -> tuple[Json, bool]:
        """A stored object as its version is now, and whether that is this version."""
        obj: Json = orjson.loads(value)
        source = self._structure.versions.get(obj["apiVersion"])
        if source is None:
            raise ConversionFailed(f"request to convert CR from an invalid group/version: {obj['apiVersion']}")
        return source.settle(obj), source is self._structure


async def _others_turn(index: int) -> None:
    """Let others work now and then while we work on one object after the other."""
    if index % TURN == TURN - 1:
        await asyncio.sleep(0)


@contextmanager
def _refusing() -> Iterator[None]:
    """A write that cannot be converted is refused in the converter's own words."""
    try:
        yield
    except ConversionFailed as failed:
        raise errors.ApiError(500, "", str(failed)) from failed


def _without_version(obj: Json) -> Json:
    """An object as it is stored: without the resourceVersion, which the store tells."""
    metadata = obj.get("metadata") or {}
    if "resourceVersion" not in metadata:
        return obj
    return {**obj, "metadata": {name: value for name, value in metadata.items() if name != "resourceVersion"}}
