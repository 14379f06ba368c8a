"""The metadata of an object, with attributes; Kubernetes' own field names, as everywhere in built-in objects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

Json = dict[str, Any]
T = TypeVar("T")

EMPTY_LEFT_OUT = frozenset(("labels", "annotations", "finalizers", "ownerReferences"))


class _Field(Generic[T]):
    """A field as Go reads it: what is absent reads as empty."""

    def __init__(self, empty: Callable[[], T]) -> None:
        self._empty = empty

    def __set_name__(self, owner: type[Any], name: str) -> None:
        self._name = name

    def __get__(self, metadata: Metadata, owner: type[Any]) -> T:
        found: T | None = metadata.json.get(self._name)
        if found is None:
            found = self._empty()
            if self._name in EMPTY_LEFT_OUT:
                # Whoever asks for the labels may be about to add one.
                metadata.json[self._name] = found
        return found

    def __set__(self, metadata: Metadata, value: T) -> None:
        metadata.json[self._name] = value


class Metadata:
    """A view of `json`, which it reads and writes: nothing is copied, and a field without an attribute stays there."""

    name = _Field(str)
    generateName = _Field(str)
    namespace = _Field(str)
    """ "" for an object of the whole cluster."""
    uid = _Field(str)
    resourceVersion = _Field(str)
    generation = _Field(int)
    """Counts the changes of everything but metadata and status."""
    creationTimestamp = _Field(str)
    deletionTimestamp = _Field(str)
    """ "" unless the object is being deleted."""
    labels = _Field(dict[str, str])
    annotations = _Field(dict[str, str])
    finalizers = _Field(list[str])
    ownerReferences = _Field(list[Json])

    def __init__(self, json: Json) -> None:
        self.json = json

    def __repr__(self) -> str:
        return f"Metadata({self.json!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Metadata) and written(other.json) == written(self.json)

    __hash__ = None  # type: ignore[assignment]  # It changes.


def written(json: Json) -> Json:
    """Metadata without the collections that hold nothing."""
    return {name: value for name, value in json.items() if value or name not in EMPTY_LEFT_OUT}
