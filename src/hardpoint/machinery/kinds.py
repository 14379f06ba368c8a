"""The table of kinds: what each resource is called, where it lives and what may be done with it.

A Kind is one group, version and plural. The built-in ones are read from `data/kinds.json`, which
`tools/make_tables.py` derives from a recorded discovery of v1.37; custom resources make theirs at run time, with the
`structure` that their definition gives them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

if TYPE_CHECKING:
    from hardpoint.machinery.structural import Structure

_TABLE = Path(__file__).parent / "data/kinds.json"


class Subresource(NamedTuple):
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
    storage_version_hash: str = ""
    """What legacy discovery tells about how objects are stored; "" for what is never stored."""
    structure: Structure | None = field(default=None, compare=False, repr=False)
    """What the definition of a custom resource says about this version of it; None for built-in kinds."""

    @property
    def known_as(self) -> str:
        """Its name if it is built in, else "": rules for one kind ask this, and take no custom Pod for a Pod."""
        return "" if self.structure is not None else self.kind

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

    def subresource(self, name: str) -> Subresource | None:
        """Its subresource of that name, or None."""
        return next((subresource for subresource in self.subresources if subresource.name == name), None)


@cache
def builtin() -> tuple[Kind, ...]:
    """Every built-in kind in the order of discovery: core first, a group's preferred version before its others."""
    groups = orjson.loads(_TABLE.read_bytes())
    return tuple(
        _kind(group["group"], version["version"], row)
        for group in groups
        for version in group["versions"]
        for row in version["kinds"]
    )


def by_kind(api_version: str, kind: str) -> Kind | None:
    """The built-in kind that `apiVersion` and `kind` of an object name, or None."""
    return _by_kind().get((api_version, kind))


def by_plural(group: str, version: str, plural: str) -> Kind | None:
    """The built-in kind served at `/apis/<group>/<version>/<plural>`, or None; the core group is ""."""
    return _by_plural().get((group, version, plural))


@cache
def _by_kind() -> Mapping[tuple[str, str], Kind]:
    return {(kind.api_version, kind.kind): kind for kind in builtin()}


@cache
def _by_plural() -> Mapping[tuple[str, str, str], Kind]:
    return {(kind.group, kind.version, kind.plural): kind for kind in builtin()}


def _kind(group: str, version: str, row: dict[str, Any]) -> Kind:
    subresources = tuple(Subresource(name, tuple(verbs), *body) for name, verbs, *body in row.pop("subresources", ()))
    fields: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in row.items()}
    return Kind(group, version, subresources=subresources, **fields)
