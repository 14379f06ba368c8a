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
from hardpoint.apiserver.places import place
from hardpoint.machinery.errors import StoreError
from hardpoint.machinery.kinds import Kind
from hardpoint.machinery.rolereconciling import is_protected, reconciled, refers_elsewhere
from hardpoint.machinery.standardobjects import standard_objects
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


async def ensure_policy(store: Store, now: Callable[[], datetime]) -> None:
    """Make what is missing, and mend what lost something. Raises StoreError."""
    expected = [(kind, obj, _key(kind, obj)) for kind, obj in standard_objects()]
    found = await asyncio.gather(*(store.get(key) for _, _, key in expected))
    time = format_time(now())
    await asyncio.gather(
        *(_ensure(store, kind, obj, key, old, time) for (kind, obj, key), old in zip(expected, found, strict=True))
    )


def _key(kind: Kind, obj: Json) -> str:
    return place(kind).key(obj["metadata"].get("namespace", ""), obj["metadata"]["name"])


async def _ensure(store: Store, kind: Kind, obj: Json, key: str, old: KeyValue | None, now: str) -> None:
    for _ in range(ATTEMPTS_MAX):
        try:
            if old is None:
                await store.create(key, place(kind).dump(_new(kind, obj, now)))
            elif kind.group == _RBAC:
                await _mend(store, kind, obj, old, now)
            return
        except (KeyExists, Mismatch):
            old = await store.get(key)
    raise StoreError(f"{key} changed {ATTEMPTS_MAX} times while it was made what every cluster needs")


def _new(kind: Kind, obj: Json, now: str) -> Json:
    new = {**obj, "metadata": dict(obj["metadata"])}
    managers.claim(kind, new, None, now=now, manager=_MANAGERS.get(kind.group, managers.SERVER))
    objectmeta.begin(kind, new, now=now)
    if kind.kind == "APIService":
        new["status"] = {"conditions": [{**_AVAILABLE, "lastTransitionTime": now}]}
    elif kind.group != _RBAC:
        new["status"] = {}
    return new


async def _mend(store: Store, kind: Kind, expected: Json, found: KeyValue, now: str) -> None:
    """Give a role or binding back what it lacks. Raises Mismatch if somebody else was faster."""
    existing = place(kind).found(found)
    if is_protected(existing) or objectmeta.is_terminating(existing):
        return
    if refers_elsewhere(existing, expected):
        await store.delete(found.key, expected=found.revision)
        await store.create(found.key, place(kind).dump(_new(kind, expected, now)))
        return
    mended = reconciled(existing, expected)
    if mended != existing:
        await store.update(found.key, place(kind).dump(mended), expected=found.revision)
