"""What a reconcile function is given besides the object: the time, cached reads, and ways to act on the cluster."""

from __future__ import annotations

import builtins
import logging
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, TypeVar, cast, overload

from hardpoint.client.client import Client
from hardpoint.client.options import Propagation
from hardpoint.machinery.models import Model
from hardpoint.machinery.objects import Object
from hardpoint.runtime.applied import Applied, digest_of
from hardpoint.runtime.changes import Key
from hardpoint.runtime.conditions import condition
from hardpoint.runtime.environment import Recorder
from hardpoint.runtime.indexes import by_controller_uid
from hardpoint.runtime.objectwriting import ObjectWriter, kind_of
from hardpoint.runtime.owners import owned as owned_by
from hardpoint.seams.controller.guest.declared import Named, json_of, like, named
from hardpoint.seams.controller.guest.indexing import IndexGuest
from hardpoint.seams.controller.guest.reading import Reads

Json = dict[str, Any]
M = TypeVar("M", bound=Model)
B = TypeVar("B")
T = TypeVar("T")
K = TypeVar("K")
V = TypeVar("V")

_CONTROLLER = "controller"
"""The index by who controls an object."""


@dataclass(slots=True)
class Equipment:
    """What all reconciles of one controller share."""

    controller: str
    client: Client
    reads: Reads
    writer: ObjectWriter
    recorder: Recorder
    indexes: Mapping[str, IndexGuest] = field(default_factory=dict)
    applied: Applied = field(default_factory=Applied)


class Context:
    """One call of an async reconcile function. It is good for that call only."""

    __slots__ = ("_conditions", "_equipment", "_is_over", "_owner", "key", "now")

    def __init__(self, equipment: Equipment, key: Key, owner: Json, now: datetime) -> None:
        self.key = key
        """The namespace and the name of the object."""
        self.now = now
        """When the call began, in UTC."""
        self._equipment = equipment
        self._owner = owner
        self._conditions: list[Json] = []
        self._is_over = False

    @property
    def client(self) -> Client:
        """The API itself, for what there is no word for here. What it reads is not cached; what it writes is real."""
        self._check()
        return self._equipment.client

    @property
    def log(self) -> logging.Logger:
        """A logger of the controller's own. Whatever is logged in a reconcile, by whomever, names the object."""
        return logging.getLogger(f"hardpoint.controller.{self._equipment.controller}")

    async def apply(self, body: B, *, owned: bool = True, force: bool = True) -> B:
        """Make an object so: server-side apply of all that this App wants of it. Returns it as the server has it.

        `body` is a dict, an Object, or of a class with @app.resource. Without a namespace it is in that of the
        reconciled object, whose property it is unless `owned` is False: it is deleted with it. `force` takes fields
        from others that manage them. Nothing is sent if the same was applied before and the object did not change.
        Raises ApiError, and ValueError for what cannot be owned.
        """
        self._check()
        wanted = await self._placed(json_of(body))
        if owned:
            wanted = owned_by(wanted, self._owner)
        digest = digest_of(wanted, force=force)
        there = self._unchanged(wanted, digest)
        if there is None:
            there = await self._equipment.writer.apply(wanted, force=force)
            if not self._equipment.writer.dry_run:
                metadata = there["metadata"]
                self._equipment.applied.remember(metadata["uid"], digest, metadata["resourceVersion"])
        return like(body, there)

    async def delete(self, body: Any, *, propagation: Propagation | None = None) -> None:
        """Delete an object that was read or applied. One that is gone already is fine. Raises ApiError."""
        self._check()
        await self._equipment.writer.delete(await self._placed(json_of(body)), propagation)

    @overload
    async def get(self, what: type[M], name: str, *, namespace: str | None = None) -> M | None: ...
    @overload
    async def get(self, what: str, name: str, *, namespace: str | None = None) -> Object | None: ...
    async def get(self, what: type[M] | str, name: str, *, namespace: str | None = None) -> M | Object | None:
        """One object from the cache, by default of the same namespace; None if there is none.

        The cache has what this controller wrote itself, at once. It follows the server for resources in `owns`,
        `watches` and `reads`; any other resource is fetched whole and followed from the first time it is asked for.
        """
        self._check()
        resource = named(what)
        informer = await self._equipment.reads.synced(resource.title)
        found = informer.read(Key(await self._namespace(resource, namespace, needs_one=True), name))
        return None if found is None else cast("M | Object", resource.model.from_json(found))

    @overload
    async def list(
        self, what: type[M], *, namespace: str | None = None, label_selector: str = ""
    ) -> builtins.list[M]: ...
    @overload
    async def list(
        self, what: str, *, namespace: str | None = None, label_selector: str = ""
    ) -> builtins.list[Object]: ...
    async def list(
        self, what: type[M] | str, *, namespace: str | None = None, label_selector: str = ""
    ) -> builtins.list[M] | builtins.list[Object]:
        """Objects from the cache, by default of the same namespace; those of all of them with namespace=""."""
        self._check()
        resource = named(what)
        informer = await self._equipment.reads.synced(resource.title)
        found = informer.read_all(namespace=await self._namespace(resource, namespace), selector=label_selector)
        return cast("builtins.list[M]", [resource.model.from_json(each) for each in found])

    @overload
    async def owned(self, what: type[M]) -> builtins.list[M]: ...
    @overload
    async def owned(self, what: str) -> builtins.list[Object]: ...
    async def owned(self, what: type[M] | str) -> builtins.list[M] | builtins.list[Object]:
        """Objects from the cache that belong to the reconciled one: all that it applied as its own, and did not delete.

        Those that are wanted no longer are the author's to delete.
        """
        self._check()
        resource = named(what)
        informer = await self._equipment.reads.synced(resource.title)
        informer.add_index(_CONTROLLER, by_controller_uid)
        found = informer.by_index(_CONTROLLER, self._owner["metadata"]["uid"])
        return cast("builtins.list[M]", [resource.model.from_json(each) for each in found])

    @overload
    async def index(self, function: Callable[[Any], Mapping[K, V] | None], key: K) -> builtins.list[V]: ...
    @overload
    async def index(self, function: Callable[[T], str | Collection[K] | None], key: K | str) -> builtins.list[T]: ...
    async def index(self, function: Callable[[Any], Any], key: Any) -> builtins.list[Any]:
        """What a function with @app.index says is under a key: its values, or the objects where it gives keys alone.

        It is about all objects that this controller may look at, and has what was written here, at once.
        """
        self._check()
        found = next((index for index in self._equipment.indexes.values() if index.raw is function), None)
        if found is None:
            raise ValueError(f"{getattr(function, '__name__', function)} is no index of this App; use @app.index")
        return found.find(await self._equipment.reads.synced(found.resource.title), key)

    def event(
        self,
        type: Literal["Normal", "Warning"],
        reason: str,
        message: str,
        *,
        about: Any = None,
        action: str = "",
    ) -> None:
        """Tell people what happened, as an Event about the object, or `about` another. Waits for nothing."""
        self._check()
        self._equipment.recorder.event(
            self._owner if about is None else json_of(about), type, reason, message, action=action
        )

    def condition(self, type: str, status: bool | None, reason: str, message: str = "") -> None:
        """Say how the object is: `Ready` is True, False, or None for unknown. Written with the status, at the end."""
        self._check()
        generation = self._owner["metadata"].get("generation")
        self._conditions.append(condition(type, status, reason, message, now=self.now, generation=generation))

    def end(self) -> builtins.list[Json]:
        """Nothing can be done through it any more. Returns the conditions that were said."""
        self._is_over = True
        return self._conditions

    def _check(self) -> None:
        if self._is_over:
            raise RuntimeError(f"the reconcile of {self.key} is over; its context is good for one call only")

    async def _placed(self, body: Json) -> Json:
        """A copy whose namespace is said; whether it has one is the server's knowledge."""
        metadata = body.get("metadata") or {}
        if not metadata.get("name"):
            raise ValueError(f"{body.get('kind') or 'the object'} has no metadata.name")
        resource = await self._equipment.client.resource(kind_of(body))
        if not resource.namespaced:
            return {**body, "metadata": {key: value for key, value in metadata.items() if key != "namespace"}}
        namespace = metadata.get("namespace") or self.key.namespace
        if not namespace:
            raise ValueError(f"{body['kind']} {metadata['name']} needs a metadata.namespace: {self.key} has none")
        return {**body, "metadata": {**metadata, "namespace": namespace}}

    async def _namespace(self, resource: Named, given: str | None, *, needs_one: bool = False) -> str:
        """Where to read a resource. Raises ValueError for where this controller does not look."""
        if not (await self._equipment.client.resource(resource.title)).namespaced:
            return ""
        meant, limit = self.key.namespace if given is None else given, self._equipment.reads.namespace
        if needs_one and not meant:
            raise ValueError(f"{resource.title} is in a namespace, and {self.key} is not; say which with namespace=")
        if limit and meant != limit:
            raise ValueError(f"{resource.title} in namespace {meant!r} is not read: this controller looks at {limit!r}")
        return meant

    def _unchanged(self, wanted: Json, digest: bytes) -> Json | None:
        """The object, if there is nothing to do for it. Only what wakes the controller when it changes counts."""
        informer = self._equipment.reads.waking(kind_of(wanted))
        if informer is None:
            return None
        metadata = wanted["metadata"]
        there = informer.read(Key(metadata.get("namespace", ""), metadata["name"]))
        if there is None:
            return None
        uid, version = there["metadata"]["uid"], there["metadata"]["resourceVersion"]
        return there if self._equipment.applied.is_same(uid, digest, version) else None
