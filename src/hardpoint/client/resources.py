"""What a resource is called, and the path that leads to it. Builds requests' paths and sends none.

People name resources in several ways, all of them understood here: `pods`, `Pod`, `po`, `deployments.apps`,
`deployments.v1.apps`, `apps/v1 Deployment`. Which one a server means by it is `discovery.py`'s knowledge.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import quote

from hardpoint.machinery.errors import bad_request
from hardpoint.machinery.kinds import Kind

VERSION = re.compile(r"v[0-9]+((alpha|beta)[0-9]+)?")


@dataclass(frozen=True, slots=True)
class Resource:
    """A resource of a server, named in full: no discovery is needed to reach it."""

    api_version: str
    plural: str
    kind: str
    namespaced: bool = True

    @staticmethod
    def of(kind: Kind) -> Resource:
        return Resource(kind.api_version, kind.plural, kind.kind, kind.namespaced)

    def path(self, namespace: str = "", name: str = "", subresource: str = "") -> str:
        """The collection's path, or an object's. Raises a BadRequest for a name that no path can hold."""
        parts = ["", "apis" if "/" in self.api_version else "api", self.api_version]
        if namespace and self.namespaced:
            parts += ["namespaces", segment(namespace)]
        parts.append(self.plural)
        if name:
            parts.append(segment(name))
        if subresource:
            parts.append(subresource)
        return "/".join(parts)


@dataclass(frozen=True, slots=True)
class Wanted:
    """A resource as somebody called it. What is None was left open."""

    name: str
    group: str | None = None
    version: str | None = None


def readings(text: str) -> list[Wanted]:
    """What `text` may mean, the likelier first. `a.v1.b` may be version v1 of group b, or the group `v1.b`."""
    api_version, _, name = text.strip().rpartition(" ")
    if api_version:
        group, _, version = api_version.strip().rpartition("/")
        return [Wanted(name, group, version)]
    plural, _, rest = name.partition(".")
    if not rest:
        return [Wanted(plural)]
    version, _, group = rest.partition(".")
    found = [Wanted(plural, group, version)] if VERSION.fullmatch(version) else []
    return [*found, Wanted(plural, rest)]


def segment(name: str) -> str:
    """A name as one segment of a path. Raises a BadRequest for one that would lead elsewhere."""
    if name in ("", ".", "..") or "/" in name or "%" in name:
        raise bad_request(f'invalid resource name "{name}": it must not be empty, "." or "..", or hold "/" or "%"')
    return quote(name, safe=":@!$&'()*+,;=~")
