"""Who manages the replicas of a workload, told of the workload and told of its Scale.

A Scale shows one field of the workload, so its managers are those of that field. What happens to it through the Scale
is recorded with the workload, under the subresource that was used.
"""

from __future__ import annotations

from collections.abc import Mapping

from hardpoint.machinery.apply import fieldsets
from hardpoint.machinery.apply.entries import APPLY, Entry, Managed, Who
from hardpoint.machinery.apply.fieldsets import Path

API_VERSION = "autoscaling/v1"
REPLICAS: Path = ("f:spec", "f:replicas")


def to_scale(managed: Managed, replicas: Mapping[str, Path]) -> dict[Who, Entry]:
    """The managers of a Scale; `replicas` is where the workload has them in each of its versions."""
    only = fieldsets.of_paths([REPLICAS])
    return {
        _renamed(identity, API_VERSION): Entry(API_VERSION, only, entry.time)
        for identity, entry in managed.items()
        if entry.api_version in replicas and fieldsets.has(entry.fields, replicas[entry.api_version])
    }


def to_workload(managed: Managed, scaled: Managed, api_version: str, replicas: Mapping[str, Path]) -> dict[Who, Entry]:
    """The managers of a workload whose Scale has these managers now, after a write in one version."""
    left: dict[Who, Entry] = {}
    still: set[Who] = set()
    for identity, entry in managed.items():
        fields, place = entry.fields, replicas.get(entry.api_version)
        if place is not None and fieldsets.has(fields, place):
            shown_as = _renamed(identity, API_VERSION)
            if shown_as in scaled:
                still.add(shown_as)
            else:
                fields = fieldsets.difference(fields, fieldsets.of_paths([place]))
        if fields:
            left[identity] = entry if fields is entry.fields else Entry(entry.api_version, fields, entry.time)
    for identity, entry in scaled.items():
        ours = _renamed(identity, api_version)
        if identity not in still and ours not in left and fieldsets.has(entry.fields, REPLICAS):
            # As kube-apiserver does, without a time: the Scale has none of its own.
            left[ours] = Entry(api_version, fieldsets.of_paths([replicas[api_version]]))
    return left


def _renamed(identity: Who, api_version: str) -> Who:
    return identity if identity.operation == APPLY else identity._replace(api_version=api_version)
