"""A controller at work: which informers it hears, and whom each change concerns."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from hardpoint.client.backoff import Backoff
from hardpoint.machinery.errors import ApiError
from hardpoint.runtime.changes import Change, Key
from hardpoint.runtime.environment import Environment
from hardpoint.runtime.finalizers import has_finalizer, is_deleted
from hardpoint.runtime.objectwriting import ObjectWriter
from hardpoint.runtime.owners import names_of_owner
from hardpoint.runtime.reconciler import Reconciler, Source
from hardpoint.runtime.workqueue import WorkQueue
from hardpoint.seams.controller.guest.context import Equipment
from hardpoint.seams.controller.guest.declared import Named, Where, as_key
from hardpoint.seams.controller.guest.follower import Follower
from hardpoint.seams.controller.guest.outcome import copied
from hardpoint.seams.controller.guest.predicates import MetadataPredicate, Predicate
from hardpoint.seams.controller.guest.reading import Reads

Json = dict[str, Any]
Concerns = Callable[[Change], Iterable[Key]]

log = logging.getLogger(__name__)


async def at_work(guest: Follower, environment: Environment) -> Reconciler:
    """The reconciler of a controller, ready to run. Waits until the server has all the resources it is about."""
    limit = environment.namespace if guest.namespace is None else guest.namespace
    reads = Reads(environment.client, environment.informers, limit)
    for resource in guest.declared:
        await _wait_until_served(guest, resource, environment)
    sources = await _sources(guest, reads, environment)
    for resource in guest.reads:
        await reads.declare(resource.title, wakes=False)
    for index in guest.indexes.values():
        index.install(await reads.declare(index.resource.title, wakes=False))
    writer = ObjectWriter(environment.client, guest.app, written=reads.note_written, dry_run=environment.dry_run)
    equipment = Equipment(guest.name, environment.client, reads, writer, environment.recorder, guest.indexes)
    looks = guest.looks(equipment, sources[0].informer, environment)
    if looks.hear is not None:
        sources[0] = replace(sources[0], concerns=looks.hear)
    counts = environment.metrics.queue(guest.name)
    queue: WorkQueue[Key] = WorkQueue(guest.name, metrics=counts)
    counts.queue = queue
    return Reconciler(
        queue,
        looks.reconcile,
        sources,
        counts=environment.metrics.controller(guest.name, workers=guest.workers),
        group=guest.resource.group,
        kind=guest.resource.kind,
        workers=guest.workers,
        share=environment.share,
        beside=looks.beside,
    )


async def _wait_until_served(guest: Follower, resource: Named, environment: Environment) -> None:
    backoff = Backoff(random.random)
    while True:
        try:
            await environment.client.resource(resource.title)
        except ApiError as refused:
            if refused.code != 404:
                raise
            told = {"controller": guest.name, "resource": resource.title}
            log.warning("the server has no such resource yet", extra=told)
            await asyncio.sleep(backoff.next_seconds())
        else:
            return


async def _sources(guest: Follower, reads: Reads, environment: Environment) -> list[Source]:
    """The controller's own resource first, then what it owns and watches."""
    own = await environment.client.resource(guest.resource.title)
    primary = await reads.declare(
        guest.resource.title,
        wakes=True,
        label_selector=guest.followed_labels,
        field_selector=guest.field_selector,
    )
    sources = [Source(primary, _itself(guest), guest.resync_seconds)]
    for resource in guest.owns:
        informer = await reads.declare(resource.title, wakes=True)
        sources.append(Source(informer, _owner(guest.resource, is_namespaced=own.namespaced)))
    for resource, to in guest.watches:
        # Which objects it concerns is the author's word; one of them may not be who applied it.
        informer = await reads.declare(resource.title, wakes=False)
        sources.append(Source(informer, _mapped(resource, to, is_namespaced=own.namespaced)))
    return sources


def _itself(guest: Follower) -> Concerns:
    concerns = _updated(guest)
    if guest.followed_labels == guest.label_selector:
        return concerns
    return lambda change: concerns(change) if _is_ours(guest, change.new) else ()


def _is_ours(guest: Follower, new: Json | None) -> bool:
    """Whether an object is selected, or was, and waits to be let go."""
    return new is None or guest.selects(new) or has_finalizer(new, guest.finalizer)


def _updated(guest: Follower) -> Concerns:
    when = guest.when
    if when is None:
        return lambda change: (change.key,)
    wanted = when.differs if isinstance(when, MetadataPredicate) else _typed(guest.resource, when)

    def concerns(change: Change) -> Iterable[Key]:
        new, old = change.new, change.old
        if new is None or old is None or change.is_resync or is_deleted(new):
            return (change.key,)
        if guest.selects(old) != guest.selects(new):
            return (change.key,)
        try:
            counts = wanted(old, new)
        except Exception:  # It is the author's; a look too many does less harm than one too few.
            log.exception("predicate failed", extra={"controller": guest.name, "object": str(change.key)})
            counts = True
        return (change.key,) if counts else ()

    return concerns


def _typed(resource: Named, when: Predicate) -> Callable[[Json, Json], bool]:
    return lambda old, new: when(resource.model.from_json(copied(old)), resource.model.from_json(copied(new)))


def _owner(resource: Named, *, is_namespaced: bool) -> Concerns:
    names = names_of_owner(resource.group, resource.kind)

    def concerns(change: Change) -> Iterator[Key]:
        namespace = change.key.namespace if is_namespaced else ""
        for seen in _both(change):
            for name in names(seen):
                yield Key(namespace, name)

    return concerns


def _mapped(resource: Named, to: Callable[[Any], Iterable[Where]], *, is_namespaced: bool) -> Concerns:
    def concerns(change: Change) -> Iterator[Key]:
        namespace = change.key.namespace if is_namespaced else ""
        for seen in _both(change):
            for where in to(resource.model.from_json(copied(seen))):
                yield as_key(where, namespace)

    return concerns


def _both(change: Change) -> Iterator[Json]:
    """The object as it is and as it was: whoever it was about before may have to act on that."""
    new, old = change.new, change.old
    if new is not None:
        yield new
    if old is not None and not change.is_resync:
        yield old
