"""One resource, in one namespace or all, under one selector: its pages, its list, and one watch of it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from typing import Any
from urllib.parse import urlencode

from hardpoint.client import watch
from hardpoint.client.answers import Warnings, decoded, refusal
from hardpoint.client.events import Event, is_object, read_events
from hardpoint.client.resources import Resource
from hardpoint.client.transport import BadAnswer, Transport, whole
from hardpoint.machinery.errors import ApiError

Json = dict[str, Any]

PAGE_SIZE = 500
ACCEPT = "application/json"
# Servers that cannot cut objects down send them whole.
METADATA = f"application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,{ACCEPT}"
METADATA_LIST = f"application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,{ACCEPT}"


class Collection:
    """What a path and a selector lead to. `query` holds the selectors and nothing else."""

    def __init__(
        self,
        transport: Transport,
        resource: Resource,
        *,
        namespace: str,
        query: Mapping[str, str],
        page_size: int = PAGE_SIZE,
        metadata_only: bool = False,
        warnings: Warnings,
    ) -> None:
        self._transport = transport
        self._resource = resource
        self._path = resource.path(namespace)
        self._query = query
        self._page_size = page_size
        # Who asks for metadata asks for every kind alike; that one of them is deprecated is no news to them.
        self._warnings = None if metadata_only else warnings
        self._watch_headers = {"accept": METADATA if metadata_only else ACCEPT}
        self._list_headers = {"accept": METADATA_LIST if metadata_only else ACCEPT}

    @property
    def where(self) -> str:
        return self._path

    async def read_all(self) -> Json:
        """All of it as one List. When its pages expire under way it is asked for as a whole."""
        listed: Json | None = None
        try:
            async for page in self.pages():
                if listed is None:
                    listed = page
                else:
                    listed["items"] += page["items"]
                    listed["metadata"] = page["metadata"]
        except ApiError as refused:
            if refused.code != 410 or listed is None:
                raise
            listed = await self.read_whole()
        assert listed is not None
        # What remains to be asked for is nothing.
        for key in ("continue", "remainingItemCount"):
            listed["metadata"].pop(key, None)
        return listed

    async def read_whole(self) -> Json:
        """All of it in one answer, however large."""
        return await self._page({})

    async def pages(self) -> AsyncGenerator[Json, None]:
        """The List in pieces, all of the same moment. Raises ApiError 410 if the server forgets that moment."""
        limit = {"limit": str(self._page_size)} if self._page_size else {}
        page = await self._page(limit)
        yield page
        while token := page["metadata"].get("continue"):
            page = await self._page({**limit, "continue": token})
            if page["metadata"].get("continue") == token:
                raise BadAnswer(self._path, "the list goes round in circles: a page leads to itself")
            yield page

    async def _page(self, query: Mapping[str, str]) -> Json:
        asked = urlencode({**self._query, **query})
        answer = await self._transport.request("GET", self._path, asked, self._list_headers)
        self._hear(answer.headers)
        page = decoded(answer, self._path)
        try:
            _complete(page, self._resource)
        except (KeyError, TypeError, AttributeError) as cause:
            raise BadAnswer(self._path, "the answer is no List of objects") from cause
        return page

    @asynccontextmanager
    async def watch(self, query: Mapping[str, str]) -> AsyncIterator[AsyncIterator[list[Event]]]:
        asked = urlencode({**self._query, **query, "watch": "true"})
        async with self._transport.stream("GET", self._path, asked, self._watch_headers) as stream:
            self._hear(stream.headers)
            if stream.status != 200:
                raise refusal(await whole(stream, self._path))
            async with aclosing(read_events(stream, self._path)) as batches:
                yield batches

    def _hear(self, headers: Mapping[str, str]) -> None:
        if self._warnings is not None:
            self._warnings.hear(headers)


def _complete(page: Json, resource: Resource) -> None:
    """Give a List what every reader relies on: metadata, items, and in each item its kind and name."""
    page["metadata"] = page.get("metadata") or {}
    page["items"] = [_item(item, resource) for item in page.get("items") or ()]


def _item(item: Json, resource: Resource) -> Json:
    """Servers leave apiVersion and kind out of the items of built-in lists; alone, an object needs them."""
    if not is_object(item):
        raise TypeError("an item without a name")
    if "kind" in item:
        return item
    return {"apiVersion": resource.api_version, "kind": resource.kind, **item}


_conforms: type[watch.Collection] = Collection
