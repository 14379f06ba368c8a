"""The table of kinds: what each resource is called, where it lives and what may be done with it.

A Kind is one group, version and plural. The built-in ones are read from `data/kinds.json`, which
`tools/make_tables.py` derives from a recorded discovery of v1.37; custom resources make theirs at run time.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Subresource:
    """A part of an object with its own endpoint, `pods/status`."""

    name: str
    verbs: tuple[str, ...]
    group: str
    version: str
    kind: str
    """The kind of its body: its parent's for `status`, `Scale`, `Eviction` ..."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind in one version."""

    group: str
    version: str
    kind: str
    plural: str
    singular: str
    namespaced: bool
    verbs: tuple[str, ...]
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    subresources: tuple[Subresource, ...] = ()
    selectable_fields: tuple[str, ...] = ()
    """Field selectors beyond metadata.name and metadata.namespace."""

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def resource(self) -> str:
        """`plural` or `plural.group`, as messages name it."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def qualified(self) -> str:
        """`Kind` or `Kind.group`, as messages about invalid objects name it."""
        return f"{self.kind}.{self.group}" if self.group else self.kind
