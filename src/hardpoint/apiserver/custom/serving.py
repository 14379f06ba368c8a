"""Keeps the registry true to the definitions there are: what each of them is served as, from when it may be.

Built-in kinds stay what they are: nothing is served in their place, nor beside them in a version of theirs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from hardpoint.apiserver import places
from hardpoint.apiserver.custom import conditions
from hardpoint.apiserver.custom.converters import Converters
from hardpoint.apiserver.registry import Registry
from hardpoint.machinery.kinds import Kind, builtin

Json = dict[str, Any]

# No write takes longer: after this time nobody is still busy with a schema that was replaced.
WRITE_SECONDS_MAX = 34.0
NOT_YET = 1 << 62
"""A revision that no store reaches."""


@dataclass(frozen=True, slots=True)
class _Served:
    """What a definition is served as, and what that was made from."""

    kinds: list[Kind]
    generation: tuple[str, int]
    names: Json
    is_terminating: bool
    settled_from: int


class Serving:
    """What is served because of definitions."""

    def __init__(self, registry: Registry, converters: Converters, revision: Callable[[], int]) -> None:
        self._registry = registry
        self._converters = converters
        self._revision = revision
        self._served: dict[str, _Served] = {}

    def show(self, name: str, definition: Json) -> None:
        """Serve what a definition says now."""
        if not _is_servable(definition):
            self.hide(name)
            return
        before = self._served.get(name)
        if before is None:
            # Nobody served it before, so whatever there is was stored under what it says, or before its last change.
            self._publish(name, definition, int(definition["metadata"]["resourceVersion"]))
        elif before.generation != _generation(definition):
            # Some may still be writing under what it said before: until they are done, nothing is taken for settled.
            self._publish(name, definition, NOT_YET)
            asyncio.get_running_loop().call_later(WRITE_SECONDS_MAX, self._settle, name, definition)
        elif (before.names, before.is_terminating) != (_names(definition), _is_terminating(definition)):
            self._publish(name, definition, before.settled_from)

    def hide(self, name: str) -> None:
        """Serve nothing because of this definition."""
        served = self._served.pop(name, None)
        if served is None:
            return
        self._converters.forget(name)
        for kind in served.kinds:
            self._forget(kind)

    def kinds(self, name: str) -> list[Kind]:
        """What a definition is served as."""
        served = self._served.get(name)
        return served.kinds if served is not None else []

    def _settle(self, name: str, definition: Json) -> None:
        served = self._served.get(name)
        if served is not None and served.generation == _generation(definition):
            self._publish(name, definition, self._revision() + 1, is_terminating=served.is_terminating)

    def _publish(self, name: str, definition: Json, settled_from: int, *, is_terminating: bool | None = None) -> None:
        from hardpoint.apiserver.custom.definitions import kinds_of  # Not before there are definitions.

        going = _is_terminating(definition) if is_terminating is None else is_terminating
        converter = self._converters.of(definition)
        kinds = [
            kind
            for kind in kinds_of(definition, settled_from=settled_from, is_terminating=going, converter=converter)
            if (kind.group, kind.version) not in _builtin_versions()
        ]
        before = self.kinds(name)
        self._served[name] = _Served(kinds, _generation(definition), _names(definition), going, settled_from)
        stay = {kind.version for kind in kinds}
        for kind in before:
            if kind.version not in stay:
                self._forget(kind)
        for kind in kinds:
            self._registry.add(kind)

    def _forget(self, kind: Kind) -> None:
        self._registry.remove(kind)
        places.forget(kind)


def _is_servable(definition: Json) -> bool:
    """Names that are accepted may be served even before the definition is established."""
    accepted = conditions.is_true(definition, "NamesAccepted") or conditions.is_true(definition, "Established")
    names = _names(definition)
    is_named = all(names.get(field) for field in ("plural", "singular", "kind", "listKind"))
    return accepted and is_named and not overlaps(definition["spec"])


def overlaps(spec: Json) -> bool:
    """Whether a built-in kind has this place in the store: through another version it could be written unchecked."""
    return (spec["group"], spec["names"]["plural"]) in _builtin_resources()


@cache
def _builtin_resources() -> frozenset[tuple[str, str]]:
    return frozenset((kind.group, kind.plural) for kind in builtin())


@cache
def _builtin_versions() -> frozenset[tuple[str, str]]:
    return frozenset((kind.group, kind.version) for kind in builtin())


def _is_terminating(definition: Json) -> bool:
    return conditions.is_going(definition) or conditions.is_true(definition, "Terminating")


def _names(definition: Json) -> Json:
    names: Json = (definition.get("status") or {}).get("acceptedNames") or {}
    return names


def _generation(definition: Json) -> tuple[str, int]:
    """What changes whenever the spec does."""
    return definition["metadata"]["uid"], definition["metadata"].get("generation", 0)
