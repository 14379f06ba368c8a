"""Which kinds this server serves now. Built-in ones are there from the start; custom resources come and go."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from hardpoint.machinery.kinds import Kind


class Registry:
    """The served kinds, in discovery order. `generation` grows with every change, so that caches can tell."""

    def __init__(self, kinds: Iterable[Kind]) -> None:
        self._kinds = {(kind.group, kind.version, kind.plural): kind for kind in kinds}
        self._groups = Counter(kind.group for kind in self)
        self.generation = 1

    def __iter__(self) -> Iterator[Kind]:
        return iter(self._kinds.values())

    def find(self, group: str, version: str, plural: str) -> Kind | None:
        return self._kinds.get((group, version, plural))

    def has_group(self, group: str) -> bool:
        return group in self._groups

    def add(self, kind: Kind) -> None:
        """Serve `kind` from now on, or serve it anew with other names, verbs or another structure."""
        name = (kind.group, kind.version, kind.plural)
        if name not in self._kinds:
            self._groups[kind.group] += 1
        self._kinds[name] = kind
        self.generation += 1

    def remove(self, kind: Kind) -> None:
        del self._kinds[kind.group, kind.version, kind.plural]
        self._groups[kind.group] -= 1
        if not self._groups[kind.group]:
            del self._groups[kind.group]
        self.generation += 1
