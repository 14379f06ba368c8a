"""POST: a new object."""

from __future__ import annotations

from typing import Any

from hardpoint.apiserver import answers, bodies, managers, objectmeta, validating
from hardpoint.apiserver.admission.contract import Attributes
from hardpoint.apiserver.authorization import contract as access
from hardpoint.apiserver.call import Call
from hardpoint.apiserver.emptiness import as_given
from hardpoint.apiserver.options import WriteOptions, write_options
from hardpoint.apiserver.stamps import stamp
from hardpoint.apiserver.traits import KEEPS_STATUS_ON_CREATE, TTL_SECONDS, has_status, told_as
from hardpoint.apiserver.zero import reset_status
from hardpoint.machinery import defaults, errors, strategies
from hardpoint.machinery.jsontext import encode
from hardpoint.machinery.messages import Response
from hardpoint.machinery.timestamps import format_time
from hardpoint.store.contract import KeyExists, KeyValue

Json = dict[str, Any]

NAME_ATTEMPTS = 8


async def create(call: Call) -> Response:
    options = write_options(call.request.query, kind="CreateOptions")
    kind = call.kind
    obj = bodies.read(call, kind.api_version, kind.kind, field_validation=options.field_validation)
    return await create_object(call, obj, options)


async def check_may_create(call: Call) -> None:
    """Who may change what is there may not make what is not. Raises 403."""
    asked = access.Question(call.user, "create", call.target)
    decision = await call.services.authorization.authorize(asked)
    if not decision.is_allowed:
        raise access.refusal(asked, decision)


async def create_object(call: Call, obj: Json, options: WriteOptions, *, is_tracked: bool = False) -> Response:
    """Create a decoded object, or say why not. One that `is_tracked` has its managedFields already."""
    metadata = obj["metadata"]
    objectmeta.put_in_namespace(call.kind, obj, call.target.namespace)
    is_generated = not metadata.get("name") and bool(metadata.get("generateName"))
    await prepare(call, obj, options, is_tracked=is_tracked)
    # What was applied came with its managers, and was not pruned.
    obj = call.place.passed(obj, is_pruned=not is_tracked)
    metadata = obj["metadata"]
    for _ in range(NAME_ATTEMPTS if is_generated else 1):
        try:
            return answers.one(call, await _commit(call, obj, options), status=201)
        except KeyExists:
            if is_generated:
                metadata["name"] = objectmeta.generated_name(metadata["generateName"])
    if is_generated:
        raise errors.name_not_generated(call.kind.resource, metadata["name"])
    raise await _exists(call, obj)


async def prepare(call: Call, obj: Json, options: WriteOptions, *, is_tracked: bool = False) -> None:
    """Make the object what would be stored: defaults, managers, admission, the server's fields, validation."""
    kind, admission = call.kind, call.services.admission
    defaults.apply(kind, obj)
    objectmeta.without_repeated_owners(obj, call.warnings)
    objectmeta.wipe(obj)
    if not is_tracked:
        await managers.track(call, obj, None, options)
    attributes = Attributes(
        kind=kind,
        operation="CREATE",
        namespace=obj["metadata"].get("namespace", ""),
        name=obj["metadata"].get("name", ""),
        object=obj,
        old=None,
        user=call.user,
        dry_run=options.dry_run,
        warnings=call.warnings,
    )
    await admission.mutate(attributes)
    if (guard := call.services.guards.get(kind.resource)) is not None:
        await guard.check(call.user, kind, call.target, obj, None)
    objectmeta.begin(kind, obj, now=format_time(call.services.now()))
    if has_status(kind) and kind.known_as not in KEEPS_STATUS_ON_CREATE:
        reset_status(kind, obj)
    strategies.prepare_create(kind, obj)
    stamp(kind, obj, None, call.services.now)
    wrong = await validating.on_create(kind, obj)
    if wrong:
        raise errors.invalid(told_as(kind), obj["metadata"].get("name", ""), as_given(wrong, call.given))
    call.warnings += strategies.warn_create(kind, obj)
    strategies.canonicalize(kind, obj)
    await admission.validate(attributes)


async def _commit(call: Call, obj: Json, options: WriteOptions) -> bytes:
    """Store the object, with what must be allotted to it, and return its wire form."""
    allotter = call.services.allotters.get(call.kind.resource)
    if allotter is None:
        return await _write(call, obj, options)
    async with allotter.allot(obj, None, dry_run=options.dry_run):
        return await _write(call, obj, options)


async def _write(call: Call, obj: Json, options: WriteOptions) -> bytes:
    place, store = call.place, call.services.store
    key = place.key(obj["metadata"].get("namespace", ""), obj["metadata"]["name"])
    if options.dry_run:
        if await store.get(key) is not None:
            raise KeyExists(key)
        return encode(await place.rehearsed(obj))
    value = await place.stored(obj)
    revision = await store.create(key, value, ttl_seconds=TTL_SECONDS.get(call.kind.known_as, 0))
    return place.wire((await place.bring(KeyValue(key, value, revision, revision))).value, revision)


async def _exists(call: Call, obj: Json) -> errors.ApiError:
    """Why a name is taken: it is there, perhaps about to go."""
    name = obj["metadata"]["name"]
    found = await call.services.store.get(call.place.key(obj["metadata"].get("namespace", ""), name))
    terminating = found is not None and objectmeta.is_terminating(call.place.found(found))
    return errors.already_exists(call.kind.resource, name, terminating=terminating)
