"""What an author declares of a controller: which resources it is about, and what of a change concerns it.

A resource is a class (an author's own, or a typed view) or a text such as `batch/v1 Job`; objects of a resource that
has no class are shown as `Object`s. Mistakes are found when the file is loaded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar, cast

from hardpoint.machinery.models import Model
from hardpoint.machinery.objects import Object
from hardpoint.runtime.changes import Key
from hardpoint.runtime.owners import group_of

Json = dict[str, Any]

B = TypeVar("B")

What: TypeAlias = type[Model] | str
"""A resource, as an author names it."""

_NAME = re.compile(r"([a-z0-9][-a-z0-9.]*/)?v[0-9][a-z0-9]* [A-Z][A-Za-z0-9]*")


@dataclass(frozen=True, slots=True)
class Named:
    """A resource, and the class that its objects are shown as."""

    api_version: str
    kind: str
    model: type[Model]

    @property
    def title(self) -> str:
        """What the client calls it."""
        return f"{self.api_version} {self.kind}"

    @property
    def group(self) -> str:
        return group_of(self.api_version)


def named(what: object) -> Named:
    """The resource that `what` means. Raises ValueError for what means none."""
    if isinstance(what, str):
        if not _NAME.fullmatch(what):
            raise ValueError(f"{what!r} names no resource; write it like 'batch/v1 Job' or 'v1 Service'")
        version, _, name = what.partition(" ")
        return Named(version, name, Object)
    api_version, kind = getattr(what, "api_version", None), getattr(what, "kind", None)
    if not isinstance(what, type) or not isinstance(api_version, str) or not isinstance(kind, str):
        raise ValueError(f"{what!r} is no resource; use a class with @app.resource, or a text like 'batch/v1 Job'")
    return Named(api_version, kind, what)


def json_of(body: Any) -> Json:
    """The JSON of an object that an author made or got: of a class, an Object, or JSON itself. Raises ValueError."""
    if isinstance(body, dict):
        return body
    to_json = getattr(body, "to_json", None)
    if to_json is None:
        raise ValueError(f"{body!r} is no object; give one of a class with @app.resource, an Object, or a dict")
    found: Json = to_json()
    return found


def like(body: B, json: Json) -> B:
    """`json` in the form that `body` has, which `json_of` has read."""
    model: Any = type(body)
    return cast("B", json if isinstance(body, dict) else model.from_json(json))


Where: TypeAlias = "Key | str | tuple[str, str]"
"""An object of the controller's own resource: a Key, `name` in the namespace of what changed, or (namespace, name)."""


@dataclass(frozen=True, slots=True)
class Watch:
    """Another resource whose changes concern objects of the controller: `to` names those that one concerns.

    `to` is asked with the object as it was and as it is; it must be quick, for it runs on the event loop.
    """

    what: What
    to: Callable[[Any], Iterable[Where]]


def as_key(where: Where, namespace: str) -> Key:
    """The key that is meant; a bare name is in `namespace`."""
    if isinstance(where, str):
        return Key(namespace, where)
    return Key(*where)
