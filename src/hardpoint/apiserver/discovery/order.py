"""In which order kinds are told: groups by priority, versions by maturity, resources by name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from operator import is_
from typing import NamedTuple

from hardpoint.machinery.kinds import Kind

GROUP_PRIORITIES: Mapping[str, int] = {
    "apiregistration.k8s.io": 20000,
    "": 18000,
    "apps": 17800,
    "events.k8s.io": 17750,
    "authentication.k8s.io": 17700,
    "authorization.k8s.io": 17600,
    "autoscaling": 17500,
    "batch": 17400,
    "certificates.k8s.io": 17300,
    "networking.k8s.io": 17200,
    "policy": 17100,
    "rbac.authorization.k8s.io": 17000,
    "storage.k8s.io": 16800,
    "admissionregistration.k8s.io": 16700,
    "apiextensions.k8s.io": 16700,
    "scheduling.k8s.io": 16600,
    "coordination.k8s.io": 16500,
    "node.k8s.io": 16300,
    "discovery.k8s.io": 16200,
    "resource.k8s.io": 16200,
    "flowcontrol.apiserver.k8s.io": 16100,
    "storagemigration.k8s.io": 15800,
}
CUSTOM_GROUP_PRIORITY = 1000

_VERSION = re.compile(r"v([1-9][0-9]*)(?:(alpha|beta)([1-9][0-9]*))?")
_STAGES = {None: 0, "beta": 1, "alpha": 2}


def version_order(version: str) -> tuple[int, int, int, str]:
    """The sort key that puts a group's best version first: GA, beta, alpha, newest first, then all other names."""
    parts = _VERSION.fullmatch(version)
    if parts is None:
        return len(_STAGES), 0, 0, version
    return _STAGES[parts[2]], -int(parts[1]), -int(parts[3] or 0), ""


class Group(NamedTuple):
    """A group with its versions, the preferred one first, and their kinds."""

    name: str
    versions: Sequence[tuple[str, Sequence[Kind]]]

    def is_same(self, other: Group) -> bool:
        """Whether another group has the very same kinds, not just equal ones: what is hidden in them counts too."""
        return [name for name, _ in self.versions] == [name for name, _ in other.versions] and all(
            len(ours) == len(theirs) and all(map(is_, ours, theirs))
            for (_, ours), (_, theirs) in zip(self.versions, other.versions, strict=True)
        )


def groups(kinds: Iterable[Kind]) -> list[Group]:
    """The groups of these kinds, most important first."""

    def order(kind: Kind) -> tuple[int, str, tuple[int, int, int, str], str]:
        priority = GROUP_PRIORITIES.get(kind.group, CUSTOM_GROUP_PRIORITY)
        return -priority, kind.group, version_order(kind.version), kind.plural

    return [
        Group(name, [(version, list(served)) for version, served in groupby(members, key=lambda kind: kind.version)])
        for name, members in groupby(sorted(kinds, key=order), key=lambda kind: kind.group)
    ]
