"""Cached reads: one informer for each resource that a controller declared, and for those that it asks for later."""

from __future__ import annotations

from typing import Any

from hardpoint.client.client import Client
from hardpoint.client.options import ALL_NAMESPACES
from hardpoint.runtime.informer import Informer
from hardpoint.runtime.informers import Informers
from hardpoint.runtime.objectwriting import kind_of

Json = dict[str, Any]


class Reads:
    """What one controller reads, by the resource's title. `namespace` limits it; "" is all of them."""

    def __init__(self, client: Client, informers: Informers, namespace: str) -> None:
        self._client = client
        self._informers = informers
        self._namespace = namespace
        self._known: dict[str, Informer] = {}
        self._waking: set[str] = set()

    async def declare(self, title: str, *, wakes: bool, label_selector: str = "", field_selector: str = "") -> Informer:
        """The informer of a resource from now on. `wakes`: each change leads to a reconcile of whom it concerns.

        Raises a NotFound if the server has no such resource.
        """
        informer = self._known.get(title)
        if informer is None:
            resource = await self._client.resource(title)
            informer = self._known[title] = self._informers.get(
                title,
                namespace=self._namespace if resource.namespaced else ALL_NAMESPACES,
                label_selector=label_selector,
                field_selector=field_selector,
            )
        if wakes:
            self._waking.add(title)
        return informer

    async def synced(self, title: str) -> Informer:
        """The informer of a resource, once it holds all there is. Raises a NotFound."""
        informer = self._known.get(title) or await self.declare(title, wakes=False)
        if not informer.is_synced:
            await informer.wait_until_synced()
        return informer

    def waking(self, title: str) -> Informer | None:
        """The informer of a resource whose changes lead to a reconcile; None if it has none."""
        return self._known[title] if title in self._waking else None

    def note_written(self, body: Json) -> None:
        """Have reads show what was just written, until the server's own word comes."""
        informer = self._known.get(kind_of(body))
        if informer is not None:
            informer.note_written(body)
