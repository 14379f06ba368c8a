"""What the cells of many kinds have in common: ages, names of containers, lists that are cut short, conditions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from hardpoint.machinery import durations, timestamps
from hardpoint.machinery.quantity import BadQuantity, canonical

Json = Mapping[str, Any]
Cells = list[Any]

NONE = "<none>"
UNKNOWN = "<unknown>"
UNSET = "<unset>"

_ZERO_TIME = "0001-01-01T00:00:00Z"


def at(obj: Any, path: str, default: Any = None) -> Any:
    """The value at a dotted path; `default` where the path ends early, at a null or in something else."""
    for name in path.split("."):
        if not isinstance(obj, Mapping):
            return default
        obj = obj.get(name)
    return default if obj is None else obj


def name(obj: Json) -> str:
    return str(obj["metadata"].get("name", ""))


def ago(moment: str | None, now: datetime) -> str:
    """How long ago a timestamp was, or `<unknown>`."""
    if not moment or moment == _ZERO_TIME:
        return UNKNOWN
    passed = timestamps.since(moment, now)
    return UNKNOWN if passed is None else durations.human(passed)


def age(obj: Json, now: datetime) -> str:
    return ago(obj["metadata"].get("creationTimestamp"), now)


def containers(template: Any) -> tuple[str, str]:
    """The names and the images of a pod template's containers."""
    listed = at(template, "spec.containers", ())
    return ",".join(each.get("name", "") for each in listed), ",".join(each.get("image", "") for each in listed)


def pairs(labels: Mapping[str, str] | None) -> str:
    """A map as `a=1,b=2`, or `<none>`."""
    return ",".join(f"{key}={value}" for key, value in sorted(labels.items())) if labels else NONE


def shortened(shown: Sequence[str], total: int, limit: int) -> str:
    """The first `limit` of a list, and how many more there are."""
    text = ",".join(shown[:limit])
    return f"{text} + {total - limit} more..." if len(shown) > limit else text


def condition(conditions: Iterable[Json] | None, wanted: str) -> Json | None:
    """The first condition of a type."""
    return next((each for each in conditions or () if each.get("type") == wanted), None)


def is_true(conditions: Iterable[Json] | None, wanted: str) -> bool:
    found = condition(conditions, wanted)
    return found is not None and found.get("status") == "True"


def is_deleted(obj: Json) -> bool:
    return obj["metadata"].get("deletionTimestamp") is not None


def quantity(value: Any) -> str:
    """A quantity in its canonical form; a missing one is zero."""
    try:
        return "0" if value is None else canonical(value)
    except BadQuantity:
        return str(value)


def annotation(obj: Json, key: str) -> str:
    return str((obj["metadata"].get("annotations") or {}).get(key, ""))
