"""DELETE: an object, at once or when everyone who asked to be waited for is done.

Finalizers and a pod's grace period keep an object alive with a deletionTimestamp. What happens to dependents is said
in finalizers too, `orphan` and `foregroundDeletion`, which the garbage collector acts on and removes.
"""

from __future__ import annotations

import asyncio
from copy import deepcopy
from dataclasses import replace as with_changes
from datetime import timedelta
from typing import Any

from hardpoint.apiserver import answers, bodies, objectmeta
from hardpoint.apiserver.admission.contract import Attributes
from hardpoint.apiserver.call import Call
from hardpoint.apiserver.custom.conditions import mark_for_deletion
from hardpoint.apiserver.list import answer as answer_list
from hardpoint.apiserver.list import find as find_page
from hardpoint.apiserver.options import DeleteOptions, check_collection_options, delete_options, list_options
from hardpoint.apiserver.traits import ANSWERS_DELETE_WITH_OBJECT, ORPHANS_BY_DEFAULT
from hardpoint.machinery import errors
from hardpoint.machinery.jsontext import encode
from hardpoint.machinery.messages import Response
from hardpoint.machinery.timestamps import format_time
from hardpoint.store.contract import KeyValue, Mismatch

Json = dict[str, Any]

FOREGROUND = "foregroundDeletion"
ORPHAN = "orphan"
_DONE_PHASES = ("Succeeded", "Failed")
_GRACE_SECONDS_DEFAULT = 30
_JOBS_LEAVE_PODS = (
    "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them "
    "or set propagationPolicy=Orphan to suppress this warning"
)
_ATTEMPTS_MAX = 32
_AT_ONCE = 64


async def delete(call: Call) -> Response:
    options = _options(call)
    obj, is_gone = await delete_object(call, options)
    status = 202 if not is_gone and options.orphan is False else 200
    if is_gone and call.kind.known_as not in ANSWERS_DELETE_WITH_OBJECT:
        details: Json = {"name": call.target.name}
        if call.kind.group:
            details["group"] = call.kind.group
        details |= {"kind": call.kind.plural, "uid": obj["metadata"].get("uid", "")}
        return answers.value(call, answers.success(**details), status=status)
    return answers.one(call, encode(obj), status=status)


async def delete_collection(call: Call) -> Response:
    """Delete what is selected, one by one; answer with what was selected, as it was."""
    options = _options(call, of_many=True)
    selected = await find_page(call, list_options(call.request.query, watch=False)._replace(limit=0, token=""))
    for start in range(0, len(selected.items), _AT_ONCE):
        group = selected.items[start : start + _AT_ONCE]
        ends = await asyncio.gather(*(_delete_found(call, found, options) for found in group), return_exceptions=True)
        for end in ends:
            if end is not None:
                raise end
    return await answer_list(call, selected.items, {"resourceVersion": str(selected.revision)})


def _options(call: Call, *, of_many: bool = False) -> DeleteOptions:
    body = bodies.read_options(call)
    if of_many:
        check_collection_options(body)
    options = delete_options(body, call.query)
    if call.kind.known_as == "Job" and options.propagation is None and options.orphan is None:
        call.warnings.append(_JOBS_LEAVE_PODS)
    return options


async def _delete_found(call: Call, found: KeyValue, options: DeleteOptions) -> None:
    """Delete one object of a collection, unless somebody was faster."""
    metadata = call.place.found(found)["metadata"]
    target = call.target._replace(name=metadata["name"], namespace=metadata.get("namespace", ""))
    try:
        await delete_object(with_changes(call, target=target), options)
    except errors.ApiError as refused:
        if refused.code != 404:
            raise


async def delete_object(call: Call, options: DeleteOptions) -> tuple[Json, bool]:
    """Delete the call's target. Returns the object as it was left, and whether it is gone."""
    store, place = call.services.store, call.place
    found = await store.get(call.key)
    for _ in range(_ATTEMPTS_MAX):
        if found is None:
            raise errors.not_found(call.kind.resource, call.target.name)
        old = place.found(await place.bring(found))
        _check_preconditions(call, old, options)
        await _admit(call, old, options)
        new = _ending(call, old, options)
        try:
            if objectmeta.is_gone(new):
                # What goes at once goes as it was; only pods learn that they had no time left.
                gone = new if call.kind.known_as == "Pod" else old
                if not options.dry_run:
                    revision = await store.delete(call.key, expected=found.revision)
                    await _release(call, new)
                    gone["metadata"]["resourceVersion"] = str(revision)
                return gone, True
            if options.dry_run:
                return new, False
            if new != old:
                revision = await store.update(call.key, await place.stored(new), expected=found.revision)
                new["metadata"]["resourceVersion"] = str(revision)
            return new, False
        except Mismatch as lost:
            found = lost.current
    raise errors.conflict(call.kind.resource, call.target.name)


async def _release(call: Call, obj: Json) -> None:
    allotter = call.services.allotters.get(call.kind.resource)
    if allotter is not None:
        await allotter.release(obj)


async def _admit(call: Call, old: Json, options: DeleteOptions) -> None:
    attributes = Attributes(
        kind=call.kind,
        operation="DELETE",
        namespace=call.target.namespace,
        name=call.target.name,
        object=None,
        old=old,
        user=call.user,
        dry_run=options.dry_run,
        warnings=call.warnings,
    )
    await call.services.admission.mutate(attributes)
    await call.services.admission.validate(attributes)


def _check_preconditions(call: Call, obj: Json, options: DeleteOptions) -> None:
    metadata = obj["metadata"]
    if options.uid is not None and options.uid != metadata.get("uid"):
        why = (
            f"the UID in the precondition ({options.uid}) does not match the UID in record ({metadata.get('uid')}). "
            "The object might have been deleted and then recreated"
        )
        raise errors.conflict(call.kind.qualified, call.target.name, why)
    if options.resource_version is not None and options.resource_version != metadata["resourceVersion"]:
        why = (
            f"the ResourceVersion in the precondition ({options.resource_version}) does not match the "
            f"ResourceVersion in record ({metadata['resourceVersion']}). The object might have been modified"
        )
        raise errors.conflict(call.kind.qualified, call.target.name, why)


def _ending(call: Call, old: Json, options: DeleteOptions) -> Json:
    """The object on its way out; it may go at once if nothing holds it."""
    kind = call.kind.known_as
    obj = deepcopy(old)
    metadata = obj["metadata"]
    if kind == "CustomResourceDefinition" and "deletionTimestamp" not in metadata:
        mark_for_deletion(obj, format_time(call.services.now()))
        return obj
    _set_finalizers(metadata, _finalizers(kind, metadata, options))
    seconds = _grace_seconds(kind, obj, options)
    if "deletionTimestamp" in metadata:
        _hurry(call, metadata, seconds)
    else:
        metadata["deletionTimestamp"] = format_time(call.services.now() + timedelta(seconds=seconds))
        if kind != "Namespace":
            metadata["deletionGracePeriodSeconds"] = seconds
        if metadata.get("generation"):
            metadata["generation"] += 1
    if kind == "Namespace":
        obj.setdefault("status", {})["phase"] = "Terminating"
    return obj


def _hurry(call: Call, metadata: Json, seconds: int) -> None:
    """A second delete may only shorten the wait."""
    if seconds < metadata.get("deletionGracePeriodSeconds", 0):
        metadata["deletionTimestamp"] = format_time(call.services.now() + timedelta(seconds=seconds))
        metadata["deletionGracePeriodSeconds"] = seconds


def _grace_seconds(kind: str, obj: Json, options: DeleteOptions) -> int:
    if kind != "Pod":
        return 0
    seconds = options.grace_seconds
    if seconds is None:
        seconds = obj["spec"].get("terminationGracePeriodSeconds", _GRACE_SECONDS_DEFAULT)
    if not obj["spec"].get("nodeName") or obj.get("status", {}).get("phase") in _DONE_PHASES:
        return 0
    return max(seconds, 1) if seconds < 0 else seconds


def _finalizers(kind: str, metadata: Json, options: DeleteOptions) -> list[str]:
    """The finalizers the deletion leaves, with those of the propagation policy."""
    present = metadata.get("finalizers") or []
    if kind == "Event":
        return present
    policy = options.propagation
    if policy is None and options.orphan is not None:
        policy = "Orphan" if options.orphan else "Background"
    if policy is None:
        if FOREGROUND in present or ORPHAN in present:
            return present
        policy = "Orphan" if kind in ORPHANS_BY_DEFAULT else "Background"
    kept = [name for name in present if name not in (FOREGROUND, ORPHAN)]
    wanted = {"Orphan": [ORPHAN], "Foreground": [FOREGROUND], "Background": []}[policy]
    return kept + wanted


def _set_finalizers(metadata: Json, finalizers: list[str]) -> None:
    if finalizers:
        metadata["finalizers"] = finalizers
    else:
        metadata.pop("finalizers", None)
