"""Where in the store a kind's objects are, and in which version.

A kind's prefix is `/registry/<group>/<plural>/`, `core` standing for the empty group. Kinds that are two faces of one
thing share a place: what they store is the place's own kind, and the other face is converted on the way in and out. So
do the versions of a custom resource; what was stored by another version, or under an older schema, is made to fit the
one that is served when it is read. Where a webhook converts, that takes time: what comes from the store has to be
brought into the version first, and everything else works with what was brought.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hardpoint.machinery import conversion
from hardpoint.machinery.jsontext import encode
from hardpoint.machinery.kinds import Kind
from hardpoint.machinery.stored import to_item, to_object, to_stored, to_wire
from hardpoint.store.contract import KeyValue

if TYPE_CHECKING:
    from hardpoint.apiserver.crossing import Crossing

Json = dict[str, Any]

ROOT = "/registry/"

# The group, version and kind that is stored, for kinds that are stored as another.
STORED_AS: Mapping[tuple[str, str, str], tuple[str, str, str]] = {
    ("autoscaling", "v1", "HorizontalPodAutoscaler"): ("autoscaling", "v2", "HorizontalPodAutoscaler"),
    ("events.k8s.io", "v1", "Event"): ("", "v1", "Event"),
}


@dataclass(frozen=True, slots=True)
class Place:
    """The home of a kind's objects, and how they pass its door."""

    kind: Kind
    prefix: str
    convert_in: conversion.Convert | None
    convert_out: conversion.Convert | None
    crossing: Crossing | None = None
    """How objects get from one version to another where that takes time; None for nearly all kinds."""

    @property
    def convert_to_print(self) -> conversion.Convert | None:
        """What happens to objects before they become rows: both faces of a built-in kind look the same in a table."""
        return self.convert_in if self.kind.structure is None else None

    def key(self, namespace: str, name: str) -> str:
        return f"{self.prefix}{namespace}/{name}" if namespace else f"{self.prefix}{name}"

    def range_prefix(self, namespace: str) -> str:
        """The prefix of one namespace's objects, or of all."""
        return f"{self.prefix}{namespace}/" if namespace else self.prefix

    def dump(self, obj: Json) -> bytes:
        return to_stored(self.convert_in(obj) if self.convert_in else obj)

    async def stored(self, obj: Json) -> bytes:
        """An object as the store will hold it. Raises 500 if it cannot be converted."""
        return self.dump(obj if self.crossing is None else await self.crossing.into(obj))

    async def rehearsed(self, obj: Json) -> Json:
        """An object that is not stored, as it would come back if it were. Raises 500 if it cannot be converted."""
        return obj if self.crossing is None else await self.crossing.there_and_back(obj)

    async def bring(self, found: KeyValue) -> KeyValue:
        """What the store holds, in the version of this place. Raises 500 if it cannot be converted."""
        return found if self.crossing is None else await self.crossing.out(found)

    async def bring_all(self, items: Sequence[KeyValue]) -> Sequence[KeyValue]:
        """As `bring`, for a page of a list."""
        return items if self.crossing is None else await self.crossing.all_out(items)

    def passed(self, obj: Json, *, is_pruned: bool) -> Json:
        """An object as it will come out of the store again, before its version is known.

        What is applied to a custom resource is not pruned before it is validated, and a part that an endpoint took away
        has defaults of its own.
        """
        structure = self.kind.structure
        if structure is not None and self.crossing is not None:
            return obj if is_pruned else structure.settle(obj)
        if structure is None or self.convert_out is None or (is_pruned and structure.keeps_what_is_written):
            return obj
        return self.convert_out(self.convert_in(obj) if self.convert_in else obj)

    def load(self, value: bytes, revision: int) -> Json:
        """The object that was written at `revision`."""
        obj = to_object(value, revision)
        return self.convert_out(obj) if self.convert_out and not self._is_settled(revision) else obj

    def load_previous(self, value: bytes, revision: int) -> Json:
        """The object whose end came at `revision`; when it was written is not told."""
        obj = to_object(value, revision)
        return self.convert_out(obj) if self.convert_out else obj

    def wire(self, value: bytes, revision: int) -> bytes:
        """A whole object's JSON."""
        if self.convert_out and not self._is_settled(revision):
            return encode(self.load(value, revision))
        return to_wire(value, revision)

    def wire_previous(self, value: bytes, revision: int) -> bytes:
        """As `wire`, of an object whose end came at `revision`."""
        return encode(self.load_previous(value, revision)) if self.convert_out else to_wire(value, revision)

    def item(self, value: bytes, revision: int) -> bytes:
        """A list item's JSON: those of custom resources carry apiVersion and kind, built-in ones do not."""
        if self.kind.structure is not None:
            return self.wire(value, revision)
        if self.convert_out:
            obj = self.load(value, revision)
            del obj["apiVersion"], obj["kind"]
            return encode(obj)
        return to_item(value, revision)

    def found(self, found: KeyValue) -> Json:
        return self.load(found.value, found.revision)

    def _is_settled(self, revision: int) -> bool:
        """Whether what was written then leaves as it is."""
        structure = self.kind.structure
        return structure is not None and revision >= structure.settled_from


_places: dict[tuple[str, str, str], Place] = {}


def place(kind: Kind) -> Place:
    """The place of a kind."""
    name = (kind.group, kind.version, kind.plural)
    known = _places.get(name)
    # A custom resource may come back under its old name with other properties.
    if known is None or known.kind is not kind:
        known = _places[name] = _place(kind)
    return known


def forget(kind: Kind) -> None:
    """Remember nothing of a kind that is no longer served."""
    _places.pop((kind.group, kind.version, kind.plural), None)


def _place(kind: Kind) -> Place:
    if kind.structure is not None and kind.structure.converter is not None:
        from hardpoint.apiserver.crossing import Crossing  # Not before there are webhooks that convert.

        return Place(kind, f"{ROOT}{kind.group}/{kind.plural}/", None, None, Crossing(kind, kind.structure.converter))
    if kind.structure is not None:
        from hardpoint.machinery.structural import versions  # Not before there are custom resources.

        convert_in, convert_out = versions.conversions(kind)
        return Place(kind, f"{ROOT}{kind.group}/{kind.plural}/", convert_in, convert_out)
    face = (kind.group, kind.version, kind.kind)
    group, version, name = STORED_AS.get(face, face)
    stored = (group, version, name)
    return Place(
        kind=kind,
        prefix=f"{ROOT}{group or 'core'}/{kind.plural}/",
        convert_in=conversion.between(face, stored),
        convert_out=conversion.between(stored, face),
    )
