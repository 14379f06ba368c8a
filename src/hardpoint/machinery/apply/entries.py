"""managedFields as a value: who manages which fields, since when.

An entry is told from others by its manager, its operation and its subresource, and an Update's by its apiVersion too:
who applies has one entry, in the version it used last.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from hardpoint.machinery.apply import fieldsets
from hardpoint.machinery.apply.fieldsets import FieldSet
from hardpoint.machinery.fielderrors import json_as_go

Json = dict[str, Any]

APPLY, UPDATE = "Apply", "Update"
UPDATERS_MAX = 10
ANCIENT = "ancient-changes"
"""The manager of what the oldest updaters did, where there were too many of them."""
_FIELDS_TYPE = "FieldsV1"


class Who(NamedTuple):
    """What tells entries apart."""

    manager: str
    operation: str
    api_version: str
    """Empty for those who apply."""
    subresource: str = ""


class Entry(NamedTuple):
    """The fields of one manager, in one version."""

    api_version: str
    fields: FieldSet
    time: str | None = None
    """When the manager last changed something; nobody knows it of one who never did."""


Managed = Mapping[Who, Entry]
"""All managers of an object."""


class BadEntry(ValueError):
    """Something that is no entry of managedFields."""


def who(manager: str, operation: str, api_version: str, subresource: str = "") -> Who:
    """The identity of an entry."""
    return Who(manager, operation, "" if operation == APPLY else api_version, subresource)


def read(entries: Sequence[Json] | None, *, ours: bool = False) -> dict[Who, Entry]:
    """The managers in an object's managedFields; what is `ours` is known to be canonical. Raises BadEntry."""
    return dict(_read(index, entry, ours) for index, entry in enumerate(entries or ()))


def _read(index: int, entry: Json, ours: bool) -> tuple[Who, Entry]:
    operation, api_version = entry.get("operation", ""), entry.get("apiVersion", "")
    fields = entry.get("fieldsV1") or {}
    if not ours:
        _check(index, entry)
        try:
            fields = fieldsets.parse(fields)
        except fieldsets.BadFields as wrong:
            raise BadEntry(f"the fields of managed fields entry {index} cannot be read: {wrong}") from wrong
    identity = who(entry.get("manager", ""), operation, api_version, entry.get("subresource", ""))
    return identity, Entry(api_version, fields, entry.get("time"))


def _check(index: int, entry: Json) -> None:
    if entry.get("operation") not in (APPLY, UPDATE):
        raise BadEntry("operation must be `Apply` or `Update`")
    if not entry.get("apiVersion"):
        raise BadEntry("apiVersion must not be empty")
    if entry.get("fieldsType") != _FIELDS_TYPE:
        raise BadEntry(f"fieldsType of managed fields entry {index} must be {_FIELDS_TYPE}")


def write(managed: Managed) -> list[Json]:
    """The managers as an object's managedFields, in canonical order."""
    if len(managed) == 1:
        return [_write(identity, entry) for identity, entry in managed.items()]
    return [_write(identity, entry) for identity, entry in sorted(managed.items(), key=_order)]


def _order(item: tuple[Who, Entry]) -> tuple[str, ...]:
    identity, entry = item
    # All times are UTC in whole seconds, so they sort as texts do; one that is not known comes first.
    return (identity.operation, entry.time or "", identity.manager, entry.api_version, identity.subresource)


def _write(identity: Who, entry: Entry) -> Json:
    written: Json = {}
    if identity.manager:
        written["manager"] = identity.manager
    written["operation"] = identity.operation
    written["apiVersion"] = entry.api_version
    if entry.time is not None:
        written["time"] = entry.time
    written["fieldsType"] = _FIELDS_TYPE
    written["fieldsV1"] = entry.fields
    if identity.subresource:
        written["subresource"] = identity.subresource
    return written


def is_reset(entries: Sequence[Json] | None) -> bool:
    """Whether a client asks to forget all managers: with an empty list, or one empty entry."""
    return entries is not None and (len(entries) == 0 or (len(entries) == 1 and not entries[0]))


def capped(managed: Managed) -> Managed:
    """At most ten updaters: of too many the oldest become one, for each version."""
    updaters = [identity for identity in managed if identity.operation == UPDATE]
    if len(updaters) <= UPDATERS_MAX:
        return managed
    kept = dict(managed)
    first: dict[str, Who] = {}
    left = len(updaters)
    for identity in sorted(updaters, key=lambda each: (managed[each].time or "", sort_text(each))):
        if left <= UPDATERS_MAX:
            break
        version = managed[identity].api_version
        if version in first:
            _pour(kept, identity, first[version])
            left -= 1
        else:
            first[version] = identity
    return kept


def _pour(managed: dict[Who, Entry], identity: Who, first: Who) -> None:
    """Put an updater's fields into its version's bucket, which begins as the first updater that was seen."""
    entry = managed[identity]
    bucket = who(ANCIENT, UPDATE, entry.api_version)
    if bucket not in managed:
        managed[bucket] = managed.pop(first)
    fields = fieldsets.union(entry.fields, managed[bucket].fields)
    del managed[identity]
    managed[bucket] = Entry(entry.api_version, fields, entry.time)


def sort_text(identity: Who) -> str:
    """The text by which kube-apiserver sorts managers."""
    told = {
        "manager": identity.manager,
        "operation": identity.operation,
        "apiVersion": identity.api_version,
        "subresource": identity.subresource,
    }
    return json_as_go({name: value for name, value in told.items() if value})


def differ_in_times_only(one: Sequence[Json], other: Sequence[Json]) -> bool:
    """Whether managedFields are the same but for when somebody last changed something."""
    return len(one) == len(other) and all(map(_is_same_but_for_time, one, other))


def _is_same_but_for_time(one: Json, other: Json) -> bool:
    # Where entries differ, it is nearly always in their fields.
    return one.get("fieldsV1") == other.get("fieldsV1") and {**one, "time": None} == {**other, "time": None}
