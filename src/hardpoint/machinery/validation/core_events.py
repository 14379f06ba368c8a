"""What makes an Event invalid. Old clients of the core API are asked for little, those of events.k8s.io for more."""

from __future__ import annotations

from typing import Any

from hardpoint.machinery import names
from hardpoint.machinery.fielderrors import FieldError, invalid, invalids, required
from hardpoint.machinery.validation import rules

Json = dict[str, Any]
Errors = list[FieldError]

LENGTHS_MAX = {"reportingInstance": 128, "action": 128, "reason": 128, "message": 1024}
NOT_THERE = "does not match event.namespace"
UNSET = "needs to be unset"
# The names events.k8s.io gives to the fields of a core event.
NEW_NAMES = {
    "regarding": "involvedObject",
    "note": "message",
    "reportingController": "reportingComponent",
    "deprecatedSource": "source",
    "deprecatedFirstTimestamp": "firstTimestamp",
    "deprecatedLastTimestamp": "lastTimestamp",
    "deprecatedCount": "count",
}
# A reference to another object, field by field as Go has it.
REFERENCE = {
    "Kind": "kind",
    "Namespace": "namespace",
    "Name": "name",
    "UID": "uid",
    "APIVersion": "apiVersion",
    "ResourceVersion": "resourceVersion",
    "FieldPath": "fieldPath",
}
TEXTS = frozenset(("reason", "message", "type", "action", "reportingComponent", "reportingInstance"))
# fmt: off
IMMUTABLE = (
    "involvedObject", "reason", "message", "source", "firstTimestamp", "lastTimestamp", "count", "type", "eventTime",
    "action", "related", "reportingComponent", "reportingInstance",
)
# fmt: on


def on_create(obj: Json) -> Errors:
    event = _as_core(obj)
    errors = _agreed(event, is_core=obj["apiVersion"] == "v1")
    if obj["apiVersion"] != "v1":
        _strict(errors, event)
    return errors


def on_update(obj: Json, old: Json) -> Errors:
    event, before = _as_core(obj), _as_core(old)
    errors = _agreed(event, is_core=obj["apiVersion"] == "v1")
    if obj["apiVersion"] == "v1":
        return errors
    if event.get("series") != before.get("series"):
        _series(errors, event)
    for field in IMMUTABLE:
        place = "reportingController" if field == "reportingComponent" else field
        shown = _as_go(field, event.get(field))
        errors += rules.immutable(place, event.get(field), before.get(field), shown=shown)
    return errors


def _as_go(field: str, value: Any) -> str | None:
    """How Go prints a field that changed; None where it is as everybody would."""
    if field in ("involvedObject", "related") and (value is not None or field == "involvedObject"):
        return rules.as_go_struct(**{name: (value or {}).get(key, "") for name, key in REFERENCE.items()})
    if field == "source":
        source = value or {}
        return rules.as_go_struct(Component=source.get("component", ""), Host=source.get("host", ""))
    if field == "count":
        return str(value or 0)
    if value is None and field in TEXTS:
        return '""'
    return None


def _as_core(obj: Json) -> Json:
    return {NEW_NAMES.get(field, field): value for field, value in obj.items()}


def _agreed(event: Json, *, is_core: bool) -> Errors:
    """What every event is asked for."""
    namespace = event["metadata"].get("namespace", "")
    about = (event.get("involvedObject") or {}).get("namespace", "")
    if event.get("eventTime") is None:
        agrees = about == namespace if about else namespace in ("", "default")
        return [] if agrees else [invalid("involvedObject.namespace", about, NOT_THERE)]
    errors: Errors = []
    if not about and namespace not in ("default", "kube-system"):
        errors.append(invalid("involvedObject.namespace", about, NOT_THERE))
    controller = event.get("reportingComponent", "")
    place = "reportingComponent" if is_core else "reportingController"
    if not controller:
        errors.append(required(place))
    errors += invalids(place, controller, names.qualified_name(controller))
    for field, limit in LENGTHS_MAX.items():
        value = event.get(field, "")
        if not value and field != "message":
            errors.append(required(field))
        if names.length(value) > limit:
            errors.append(invalid(field, "", f"can have at most {limit} characters"))
    return errors


def _strict(errors: Errors, event: Json) -> None:
    _series(errors, event)
    if event.get("eventTime") is None:
        errors.append(required("eventTime"))
    if event.get("type") not in ("Normal", "Warning"):
        errors.append(invalid("type", "", f"has invalid value: {event.get('type', '')}"))
    source = event.get("source") or {}
    for field in ("firstTimestamp", "lastTimestamp", "count"):
        if event.get(field):
            errors.append(invalid(field, "", UNSET))
    if source.get("component") or source.get("host"):
        errors.append(invalid("source", "", UNSET))


def _series(errors: Errors, event: Json) -> None:
    series = event.get("series")
    if series is None:
        return
    if series.get("count", 0) < 2:
        errors.append(invalid("series.count", "", "should be at least 2"))
    if series.get("lastObservedTime") is None:
        errors.append(required("series.lastObservedTime"))
