"""How a write changes who manages what, and what an apply makes of an object.

The rules are structured-merge-diff's. Whoever writes a field with an update takes it from everybody else. Whoever
applies shares what has the same value already, is refused what has another one unless forced to, and takes away what
it applied before and does not now, unless somebody else manages that too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

from hardpoint.machinery.apply.claims import claims, with_named_parents
from hardpoint.machinery.apply.comparing import Comparison, compare
from hardpoint.machinery.apply.conflicts import Conflicts
from hardpoint.machinery.apply.entries import Entry, Managed, Who
from hardpoint.machinery.apply.fieldsets import FieldSet, difference, intersection, union
from hardpoint.machinery.apply.merging import merge
from hardpoint.machinery.apply.reconciling import reconciled
from hardpoint.machinery.apply.removing import remove
from hardpoint.machinery.apply.types import Type

Json = dict[str, Any]
Keep = Callable[[FieldSet], FieldSet]
"""What an endpoint lets a client manage of a set of fields."""


class Versions(Protocol):
    """The versions of a kind."""

    may_change: bool
    """Whether the types of these versions may be others tomorrow."""

    def type_of(self, api_version: str) -> Type | None:
        """The type in a version, or None if there is no such version."""
        ...

    def convert(self, obj: Json, api_version: str) -> Json:
        """The object in another version; it may be the same one."""
        ...


class Updater:
    """Follows the writes through one endpoint, which is in one version."""

    def __init__(self, versions: Versions, api_version: str, keep: Keep) -> None:
        self.versions = versions
        self.api_version = api_version
        self.keep = keep

    @property
    def type(self) -> Type:
        kind = self.versions.type_of(self.api_version)
        assert kind is not None, "the version of the endpoint is served"
        return kind

    def update(self, live: Json, new: Json, managed: Managed) -> tuple[dict[Who, Entry], FieldSet]:
        """Who manages what is left after `new` took the place of `live`, and what whoever did that manages now."""
        changes = _Changes(self, live, new)
        left: dict[Who, Entry] = {}
        for identity, entry in self._current(managed):
            comparison = changes.at(entry.api_version)
            if comparison is None:
                continue
            fields = difference(entry.fields, comparison.changed)
            if fields:
                left[identity] = entry._replace(fields=fields)
        ours = changes.at(self.api_version)
        assert ours is not None, "the version of the endpoint is served"
        return left, ours.written

    def apply(self, live: Json, config: Json, managed: Managed, identity: Who, *, force: bool) -> tuple[Json, Managed]:
        """The object after `config` was applied to it, and who manages what then. Raises Conflicts."""
        current = dict(self._current(managed))
        last = current.get(identity)
        fields = self.keep(claims(self.type, config))
        current[identity] = Entry(self.api_version, fields, last.time if last else None)
        merged = merge(self.type, live, config)
        if last is not None and (last.api_version != self.api_version or difference(last.fields, fields)):
            merged = self._pruned(merged, current, last)
        return merged, self._taken(_Changes(self, live, merged), current, identity, force)

    def _current(self, managed: Managed) -> Iterator[tuple[Who, Entry]]:
        """The entries whose versions are still there, as the types are now."""
        for identity, entry in managed.items():
            kind = self.versions.type_of(entry.api_version)
            if kind is None:
                continue
            if self.versions.may_change:
                entry = entry._replace(fields=reconciled(kind, entry.fields))
            yield identity, entry

    def _taken(self, changes: _Changes, managed: Managed, identity: Who, force: bool) -> Managed:
        """Who manages what after the changes that `identity` made. Raises Conflicts, unless forced."""
        left: dict[Who, Entry] = {}
        conflicts: dict[Who, FieldSet] = {}
        for each, entry in managed.items():
            comparison = changes.at(entry.api_version)
            fields = entry.fields
            if each != identity and comparison is not None:
                if lost := intersection(fields, comparison.written):
                    conflicts[each] = lost
                fields = difference(fields, comparison.changed)
            if fields:
                left[each] = entry if fields is entry.fields else entry._replace(fields=fields)
        if conflicts and not force:
            raise Conflicts(conflicts, managed)
        return left

    def _pruned(self, merged: Json, managed: Managed, last: Entry) -> Json:
        """The merged object without what was applied last time, is not now, and nobody else manages."""
        version = last.api_version
        kind = self.versions.type_of(version)
        if kind is None or not last.fields:
            return merged
        whole = self.versions.convert(merged, version)
        applied = with_named_parents(kind, last.fields)
        pruned = remove(kind, whole, applied)
        pruned = self._with_managed(whole, pruned, version, managed)
        gone = difference(_mentioned(kind, whole), _mentioned(kind, self.versions.convert(pruned, version)))
        return self.versions.convert(remove(kind, whole, intersection(gone, applied)), self.api_version)

    def _with_managed(self, merged: Json, pruned: Json, pruned_version: str, managed: Managed) -> Json:
        """What was pruned, with everything put back that somebody manages, in whatever version."""
        by_version: dict[str, FieldSet] = {pruned_version: {}}
        for entry in managed.values():
            by_version[entry.api_version] = union(by_version.get(entry.api_version, {}), entry.fields)
        for version, fields in by_version.items():
            kind = self.versions.type_of(version)
            if kind is None or not fields:
                continue
            merged, pruned = self.versions.convert(merged, version), self.versions.convert(pruned, version)
            kept = union(_mentioned(kind, pruned), with_named_parents(kind, fields))
            pruned = remove(kind, merged, difference(_mentioned(kind, merged), kept))
        return pruned


def _mentioned(kind: Type, obj: Json) -> FieldSet:
    return with_named_parents(kind, claims(kind, obj))


class _Changes:
    """What changed from one object to another, in whichever version somebody asks for it."""

    def __init__(self, updater: Updater, live: Json, new: Json) -> None:
        self._updater = updater
        self._live, self._new = live, new
        self._known: dict[str, Comparison | None] = {}

    def at(self, api_version: str) -> Comparison | None:
        """The changes as that version shows them; None if there is no such version."""
        if api_version not in self._known:
            self._known[api_version] = self._compared(api_version)
        return self._known[api_version]

    def _compared(self, api_version: str) -> Comparison | None:
        versions = self._updater.versions
        kind = versions.type_of(api_version)
        if kind is None:
            return None
        live, new = self._live, self._new
        if api_version != self._updater.api_version:
            live, new = versions.convert(live, api_version), versions.convert(new, api_version)
        return compare(kind, live, new).filtered(self._updater.keep)
