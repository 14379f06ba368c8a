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
        self.namespace = namespace
        self._client = client
        self._informers = informers
        self._known: dict[str, list[Informer]] = {}
        """The last of a resource is read from. There are two where it is selected from and watched as a whole."""
        self._waking: set[str] = set()

    async def declare(self, title: str, *, wakes: bool, label_selector: str = "", field_selector: str = "") -> Informer:
        """The informer of a resource from now on. `wakes`: each change leads to a reconcile of whom it concerns.

        Raises a NotFound if the server has no such resource.
        """
        resource = await self._client.resource(title)
        informer = self._informers.get(
            title,
            namespace=self.namespace if resource.namespaced else ALL_NAMESPACES,
            label_selector=label_selector,
            field_selector=field_selector,
        )
        known = self._known.setdefault(title, [])
        if informer not in known:
            known.append(informer)
        if wakes:
            self._waking.add(title)
        return informer

    async def synced(self, title: str) -> Informer:
        """The informer of a resource, once it holds all there is. Raises a NotFound."""
        known = self._known.get(title)
        informer = known[-1] if known else await self.declare(title, wakes=False)
        if not informer.is_synced:
            await informer.wait_until_synced()
        return informer

    def waking(self, title: str) -> Informer | None:
        """The informer of a resource whose changes lead to a reconcile; None if it has none."""
        return self._known[title][-1] if title in self._waking else None

    def note_written(self, body: Json) -> None:
        """Have reads show what was just written, until the server's own word comes."""
        for informer in self._known.get(kind_of(body), ()):
            informer.note_written(body)
