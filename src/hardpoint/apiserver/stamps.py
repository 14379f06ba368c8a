"""Times that the server writes into objects: when a taint came, a condition was set, a volume changed its phase.

Everything else about a kind is decided without a clock, in `machinery`; only these need one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any

from hardpoint.machinery.kinds import Kind
from hardpoint.machinery.timestamps import format_time

Json = dict[str, Any]
Stamp = Callable[[Json, Json, str], None]
"""Fills in times of an object, given what it was before, or nothing, and now."""


def stamp(kind: Kind, obj: Json, old: Json | None, clock: Callable[[], datetime]) -> None:
    """Fill in the times that the object leaves to the server."""
    fill = _STAMPS.get((kind.group, kind.kind))
    if fill is not None:
        fill(obj, old or {}, format_time(clock()))


def _volume(obj: Json, old: Json, now: str) -> None:
    status, before = obj.get("status") or {}, old.get("status") or {}
    if old and status.get("phase") != before.get("phase"):
        said = status.get("lastPhaseTransitionTime")
        if said is None or said == before.get("lastPhaseTransitionTime"):
            status["lastPhaseTransitionTime"] = now


def _signing_request(obj: Json, old: Json, now: str) -> None:
    since = {
        (each.get("type"), each.get("status")): each.get("lastTransitionTime")
        for each in (old.get("status") or {}).get("conditions") or ()
    }
    for condition in (obj.get("status") or {}).get("conditions") or ():
        _set(condition, "lastUpdateTime", now)
        _set(condition, "lastTransitionTime", since.get((condition.get("type"), condition.get("status"))) or now)


def _taint_rule(obj: Json, _: Json, now: str) -> None:
    _stamp_taints([(obj.get("spec") or {}).get("taint")], now)


def _slice(obj: Json, _: Json, now: str) -> None:
    for device in (obj.get("spec") or {}).get("devices") or ():
        _stamp_taints(device.get("taints") or (), now)


def _stamp_taints(taints: Iterable[Json | None], now: str) -> None:
    for taint in taints:
        if taint is not None:
            _set(taint, "timeAdded", now)


def _set(part: Json, field: str, now: str) -> None:
    if part.get(field) is None:
        part[field] = now


_STAMPS: Mapping[tuple[str, str], Stamp] = {
    ("", "PersistentVolume"): _volume,
    ("certificates.k8s.io", "CertificateSigningRequest"): _signing_request,
    ("resource.k8s.io", "DeviceTaintRule"): _taint_rule,
    ("resource.k8s.io", "ResourceSlice"): _slice,
}
