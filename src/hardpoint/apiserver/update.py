"""PUT: an object in place of another; and the way every change of an existing object takes.

`replace` reads the object, asks for its successor, and stores that, if nobody else was faster. Then it reads again and
asks again, unless the client insisted on a resourceVersion. PATCH and the subresources come by the same way.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from hardpoint.apiserver import answers, bodies, managers, objectmeta, validating
from hardpoint.apiserver.admission.contract import Attributes
from hardpoint.apiserver.call import Call
from hardpoint.apiserver.create import check_may_create, create_object
from hardpoint.apiserver.emptiness import as_given
from hardpoint.apiserver.endpoints import keep_to_endpoint
from hardpoint.apiserver.options import WriteOptions, write_options
from hardpoint.apiserver.stamps import stamp
from hardpoint.apiserver.threads import LARGE_BYTES
from hardpoint.apiserver.traits import CREATED_BY_UPDATE, TTL_SECONDS, needs_resource_version, told_as
from hardpoint.machinery import defaults, errors, fielderrors, strategies
from hardpoint.machinery.jsontext import encode
from hardpoint.machinery.messages import Response
from hardpoint.store.contract import KeyValue, Mismatch

Json = dict[str, Any]
Successor = Callable[[Json], Awaitable[Json]]
"""From the object as it stands to what should replace it: a new object, the old one untouched."""

ATTEMPTS_MAX = 32
# What is changed here must pass the kind's own rules. Elsewhere only a part changes, and the endpoint saw to the rest.
_AS_THE_MAIN_ENDPOINT = frozenset(("", "scale"))


async def update(call: Call) -> Response:
    options = write_options(call.request.query, kind="UpdateOptions")
    kind = call.kind
    obj = bodies.read(call, kind.api_version, kind.kind, field_validation=options.field_validation)
    objectmeta.check_name(obj, call.target.name)

    async def successor(_: Json) -> Json:
        # The metadata of each attempt is its own: what one found about managers is not what the client said.
        return {**obj, "metadata": dict(obj["metadata"])}

    if kind.known_as in CREATED_BY_UPDATE and not call.subresource and await call.services.store.get(call.key) is None:
        obj["metadata"].pop("resourceVersion", None)
        await check_may_create(call)
        return await create_object(call, obj, options)
    return await replace(call, successor, options, keeps_version=True)


async def replace(
    call: Call,
    successor: Successor,
    options: WriteOptions,
    *,
    keeps_version: bool = False,
    has_version: bool = False,
    is_tracked: bool = False,
) -> Response:
    """Store what `successor` makes of the object and answer with it.

    The successor's resourceVersion, if it has one, is a precondition: with `keeps_version` the client's own, with
    `has_version` the old object's. In both cases a kind may insist on it. One that `is_tracked` has its managedFields
    already.
    """
    written = await replace_object(
        call, successor, options, keeps_version=keeps_version, has_version=has_version, is_tracked=is_tracked
    )
    return answers.one(call, written)


async def replace_object(
    call: Call,
    successor: Successor,
    options: WriteOptions,
    *,
    keeps_version: bool = False,
    has_version: bool = False,
    is_tracked: bool = False,
    raw: bool = False,
) -> bytes:
    """As `replace`, but returns the wire form of the object.

    A `raw` successor was made by the server itself from the old object: it is stored as it is.
    """
    store, place = call.services.store, call.place
    found = await store.get(call.key)
    for _ in range(ATTEMPTS_MAX):
        if found is None:
            raise errors.not_found(call.kind.resource, call.target.name)
        call.is_large = call.is_large or len(found.value) > LARGE_BYTES
        found = await place.bring(found)
        old = place.found(found)
        new = await successor(old)
        said_version = new["metadata"].get("resourceVersion")
        _check_version(call, new, old, required=keeps_version or has_version)
        if not raw:
            await _prepare(call, new, old, options, is_tracked)
            new = place.passed(new, is_pruned=not is_tracked)
        try:
            return await _commit(call, new, old, found, options)
        except Mismatch as lost:
            if keeps_version and said_version:
                raise errors.conflict(call.kind.resource, call.target.name) from lost
            found = lost.current
    raise errors.conflict(call.kind.resource, call.target.name)


def _check_version(call: Call, new: Json, old: Json, *, required: bool) -> None:
    said = new["metadata"].get("resourceVersion")
    if said and said != old["metadata"]["resourceVersion"]:
        raise errors.conflict(call.kind.resource, call.target.name)
    if not said and required and needs_resource_version(call.kind):
        why = fielderrors.invalid("metadata.resourceVersion", 0, "must be specified for an update")
        raise errors.invalid(call.kind.resource, call.target.name, [why])


async def _prepare(call: Call, new: Json, old: Json, options: WriteOptions, is_tracked: bool) -> None:
    kind, admission = call.kind, call.services.admission
    defaults.apply(kind, new)
    objectmeta.without_repeated_owners(new, call.warnings)
    if not is_tracked:
        await managers.track(call, new, old, options)
    attributes = Attributes(
        kind=kind,
        operation="UPDATE",
        namespace=call.target.namespace,
        name=call.target.name,
        object=new,
        old=old,
        user=call.user,
        subresource=call.target.subresource,
        dry_run=options.dry_run,
        warnings=call.warnings,
    )
    await admission.mutate(attributes)
    if (guard := call.services.guards.get(kind.resource)) is not None:
        await guard.check(call.user, kind, call.target, new, old)
    namespace = call.target.namespace if kind.namespaced else ""
    objectmeta.carry_over(kind, new, old, name=call.target.name, namespace=namespace)
    keep_to_endpoint(kind, call.target.subresource, new, old)
    subresource = call.target.subresource
    if subresource in _AS_THE_MAIN_ENDPOINT:
        strategies.prepare_update(kind, new, old)
    stamp(kind, new, old, call.services.now)
    objectmeta.bump_generation(kind, new, old)
    if subresource in _AS_THE_MAIN_ENDPOINT:
        wrong = await validating.on_update(kind, new, old)
    else:
        wrong = await validating.on_part_update(kind, subresource, new, old)
    if wrong:
        wrong = _without_tolerated(call, wrong)
    if wrong:
        raise errors.invalid(told_as(kind), call.target.name, as_given(wrong, call.given))
    if subresource != "status":
        call.warnings += strategies.warn_update(kind, new, old)
    await admission.validate(attributes)


def _without_tolerated(call: Call, wrong: list[fielderrors.FieldError]) -> list[fielderrors.FieldError]:
    """What is wrong and refuses the update. What was wrong before and did not change is told as a warning."""
    call.warnings += [str(each) for each in wrong if each.is_tolerated]
    return [each for each in wrong if not each.is_tolerated]


async def _commit(call: Call, new: Json, old: Json, found: KeyValue, options: WriteOptions) -> bytes:
    allotter = call.services.allotters.get(call.kind.resource)
    if allotter is None or call.target.subresource:
        return await _write(call, new, old, found, options)
    async with allotter.allot(new, old, dry_run=options.dry_run):
        return await _write(call, new, old, found, options)


async def _write(call: Call, new: Json, old: Json, found: KeyValue, options: WriteOptions) -> bytes:
    store, place = call.services.store, call.place
    if managers.changes_nothing(call.kind, new, old):
        return place.wire(found.value, found.revision)
    if options.dry_run:
        return encode(await place.rehearsed(new))
    if objectmeta.is_gone(new):
        # The last finalizer went with this write: the object goes too, and the client sees what it sent.
        await store.delete(call.key, expected=found.revision)
        return encode(new)
    value = await place.stored(new)
    ttl_seconds = TTL_SECONDS.get(call.kind.known_as, 0)
    revision = await store.update(call.key, value, expected=found.revision, ttl_seconds=ttl_seconds)
    return place.wire((await place.bring(found._replace(value=value, revision=revision))).value, revision)
