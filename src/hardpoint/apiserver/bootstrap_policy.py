"""The roles, bindings, flow control and API services that every cluster has, kept as they should be.

They go into the store as the table has them: nearly two hundred objects through the front door would be half of the
time that a first start takes. A role or binding that is there keeps what others added to it, gets back what it lost,
and is left alone if its annotation asks for that. The rest only has to be there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime
from typing import Any

from hardpoint.apiserver import managers, objectmeta
from hardpoint.apiserver.flow.conditions import dangling
from hardpoint.apiserver.places import ROOT, place
from hardpoint.machinery.errors import StoreError
from hardpoint.machinery.rolereconciling import is_protected, reconciled, refers_elsewhere
from hardpoint.machinery.standardobjects import StandardObject, standard_objects
from hardpoint.machinery.timestamps import format_time
from hardpoint.store.contract import KeyExists, KeyValue, Mismatch, Store

Json = dict[str, Any]

_RBAC = "rbac.authorization.k8s.io"
_AVAILABLE = {
    "type": "Available",
    "status": "True",
    "reason": "Local",
    "message": "Local APIServices are always available",
}
_MANAGERS = {"flowcontrol.apiserver.k8s.io": "api-priority-and-fairness-config-producer-v1"}
"""Who manages the objects of a group, where it is not the server as a whole."""
ATTEMPTS_MAX = 8


async def has_policy(store: Store) -> bool:
    """Whether a server has been here before."""
    return await store.get(f"{ROOT}{_RBAC}/clusterroles/cluster-admin") is not None


async def ensure_policy(store: Store, now: Callable[[], datetime]) -> None:
    """Make what is missing, and mend what lost something. Raises StoreError."""
    wanted = list(standard_objects())
    found = await asyncio.gather(*(store.get(_key(each)) for each in wanted))
    time = format_time(now())
    await asyncio.gather(*(_ensure(store, each, old, time) for each, old in zip(wanted, found, strict=True)))


def _key(wanted: StandardObject) -> str:
    metadata = wanted.object["metadata"]
    return place(wanted.kind).key(metadata.get("namespace", ""), metadata["name"])


async def _ensure(store: Store, wanted: StandardObject, old: KeyValue | None, now: str) -> None:
    key = _key(wanted)
    for _ in range(ATTEMPTS_MAX):
        try:
            if old is None:
                await store.create(key, place(wanted.kind).dump(_new(wanted, now)))
            elif wanted.kind.group == _RBAC:
                await _mend(store, wanted, old, now)
            return
        except (KeyExists, Mismatch):
            old = await store.get(key)
    raise StoreError(f"{key} changed {ATTEMPTS_MAX} times while it was made what every cluster needs")


def _new(wanted: StandardObject, now: str) -> Json:
    kind = wanted.kind
    new = {**wanted.object, "metadata": dict(wanted.object["metadata"])}
    objectmeta.begin(kind, new, now=now)
    # Whose the fields are is in the table too: to find it out takes longer than all the rest.
    new["metadata"]["managedFields"] = [
        {
            "manager": _MANAGERS.get(kind.group, managers.SERVER),
            "operation": "Update",
            "apiVersion": kind.api_version,
            "time": now,
            "fieldsType": "FieldsV1",
            "fieldsV1": wanted.fields,
        }
    ]
    if kind.kind == "APIService":
        new["status"] = {"conditions": [{**_AVAILABLE, "lastTransitionTime": now}]}
    elif kind.kind == "FlowSchema":
        level = new["spec"]["priorityLevelConfiguration"]["name"]
        new["status"] = {"conditions": [{**dangling(level, is_there=True), "lastTransitionTime": now}]}
    elif kind.group != _RBAC:
        new["status"] = {}
    return new


async def _mend(store: Store, wanted: StandardObject, found: KeyValue, now: str) -> None:
    """Give a role or binding back what it lacks. Raises Mismatch if somebody else was faster."""
    kind, expected = wanted.kind, wanted.object
    existing = place(kind).found(found)
    if is_protected(existing) or objectmeta.is_terminating(existing):
        return
    if refers_elsewhere(existing, expected):
        await store.delete(found.key, expected=found.revision)
        await store.create(found.key, place(kind).dump(_new(wanted, now)))
        return
    mended = reconciled(existing, expected)
    if mended != existing:
        managers.claim(kind, mended, existing, now=now)
        await store.update(found.key, place(kind).dump(mended), expected=found.revision)
