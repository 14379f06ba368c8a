"""An object's managedFields through its life: created, updated, applied to.

This is what a server does with every write, on top of the rules in `updater`: it knows which fields are nobody's, which
manager stands for those who came before the first apply, and how many of them are remembered.
"""

from __future__ import annotations

from typing import Any

from hardpoint.machinery.apply import entries, lastapplied
from hardpoint.machinery.apply.checking import check
from hardpoint.machinery.apply.comparing import said_first
from hardpoint.machinery.apply.conflicts import Conflicts
from hardpoint.machinery.apply.elements import SELF
from hardpoint.machinery.apply.entries import APPLY, UPDATE, Entry, Managed, Who
from hardpoint.machinery.apply.fieldsets import FieldSet, ordered, union
from hardpoint.machinery.apply.updater import Updater
from hardpoint.machinery.sameness import is_same

Json = dict[str, Any]

BEFORE_FIRST_APPLY = "before-first-apply"
UNKNOWN = "unknown"
_NOBODYS = frozenset(("f:apiVersion", "f:kind"))
_NOBODYS_OF_METADATA = frozenset(
    (
        SELF,
        "f:creationTimestamp",
        "f:generation",
        "f:managedFields",
        "f:name",
        "f:namespace",
        "f:resourceVersion",
        "f:selfLink",
        "f:uid",
    )
)


class Tracker:
    """Keeps the managedFields of the objects that are written through one endpoint."""

    def __init__(self, updater: Updater, empty: Json, subresource: str = "") -> None:
        self.updater = updater
        self.empty = empty
        """What an object of the kind is before anything is said about it. Not to be changed."""
        self.subresource = subresource

    def track(self, live: Json | None, new: Json, manager: str, now: str) -> None:
        """Give `new`, which is to replace `live` or to be created, its managedFields."""
        if live is None and not new["metadata"].get("managedFields"):
            self._track_first(new, manager, now)
            return
        live = live or self.empty
        managed = self._said_or_live(live, new)
        new["metadata"].pop("managedFields", None)
        # Whoever asked not to be tracked, or was there before tracking was, stays so until the first apply.
        if managed or not live["metadata"].get("uid"):
            managed = self._updated(live, new, managed, manager, now)
        _put(new, managed)

    def _track_first(self, new: Json, manager: str, now: str) -> None:
        """Give an object that is about to be created its managedFields."""
        new["metadata"].pop("managedFields", None)
        updater = self.updater
        fields = somebodys(updater.keep(said_first(updater.type, self.empty, new)))
        if fields:
            identity = entries.who(manager or UNKNOWN, UPDATE, updater.api_version, self.subresource)
            _put(new, {identity: Entry(updater.api_version, fields, now)})

    def _said_or_live(self, live: Json, new: Json) -> Managed:
        """The managers that a client says there are, or those there are; it may not say so of a part of an object."""
        said = None if self.subresource else new["metadata"].get("managedFields")
        there = live["metadata"].get("managedFields")
        if entries.is_reset(said):
            return {}
        if said and said != there:
            try:
                return entries.read(said)
            except entries.BadEntry:
                return entries.read(there, ours=True)
        return entries.read(there, ours=True)

    def _updated(self, live: Json, new: Json, managed: Managed, manager: str, now: str) -> Managed:
        left, written = self.updater.update(_bare(live), new, managed)
        fields = somebodys(written)
        if fields:
            version = self.updater.api_version
            identity = entries.who(manager or UNKNOWN, UPDATE, version, self.subresource)
            before = left.get(identity)
            left[identity] = Entry(version, union(before.fields, fields) if before else fields, now)
        return entries.capped(left)

    def apply(self, live: Json, config: Json, manager: str, now: str, *, force: bool) -> Json:
        """The object after `config` was applied to it, with its managedFields. Raises Conflicts and Unfit."""
        check(self.updater.type, config)
        bare = _bare(live)
        managed: Managed = entries.read(live["metadata"].get("managedFields"), ours=True)
        if not managed:
            managed = self._updated(self.empty, bare, managed, BEFORE_FIRST_APPLY, now)
        identity = entries.who(manager, APPLY, self.updater.api_version, self.subresource)
        merged, managed = self._applied(bare, config, managed, identity, force)
        new = {**merged, "metadata": dict(merged.get("metadata") or {})}
        _put(new, _own_part(managed, identity, None if is_same(merged, bare) else now))
        if manager == lastapplied.MANAGER:
            lastapplied.keep_up(new, config)
        return new

    def _applied(self, live: Json, config: Json, managed: Managed, identity: Who, force: bool) -> tuple[Json, Managed]:
        try:
            return self.updater.apply(live, config, managed, identity, force=force)
        except Conflicts as found:
            if identity.manager != lastapplied.MANAGER:
                raise
            allowed = lastapplied.applied_by_client(self.updater.type, live, self.updater.api_version)
            left = found.besides(allowed)
            if left.fields:
                raise left from None
            return self.updater.apply(live, config, managed, identity, force=True)


def somebodys(fields: FieldSet) -> FieldSet:
    """The fields without those that no manager ever has."""
    left = {element: node for element, node in fields.items() if element not in _NOBODYS}
    metadata = left.pop("f:metadata", None)
    if metadata and (kept := {name: node for name, node in metadata.items() if name not in _NOBODYS_OF_METADATA}):
        left["f:metadata"] = kept
        return ordered(left)
    return left


def _bare(obj: Json) -> Json:
    """An object without its managedFields."""
    metadata = obj["metadata"]
    if "managedFields" not in metadata:
        return obj
    return {**obj, "metadata": {name: value for name, value in metadata.items() if name != "managedFields"}}


def _own_part(managed: Managed, identity: Who, now: str | None) -> Managed:
    """The managers, with nobody's fields taken from the one who applied, and the time if that changed something."""
    if identity not in managed:
        return managed
    entry = managed[identity]
    fields = somebodys(entry.fields)
    rest = {each: other for each, other in managed.items() if each != identity}
    if not fields:
        return rest
    return rest | {identity: entry._replace(fields=fields, time=now or entry.time)}


def _put(obj: Json, managed: Managed) -> None:
    if managed:
        obj["metadata"]["managedFields"] = entries.write(managed)
