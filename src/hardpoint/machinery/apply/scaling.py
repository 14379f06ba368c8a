"""Who manages the replicas of a workload, told of the workload and told of its Scale.

A Scale shows one field of the workload, so its managers are those of that field. What happens to it through the Scale
is recorded with the workload, under the subresource that was used.
"""

from __future__ import annotations

from hardpoint.machinery.apply import fieldsets
from hardpoint.machinery.apply.entries import APPLY, Entry, Managed, Who
from hardpoint.machinery.apply.fieldsets import Path

API_VERSION = "autoscaling/v1"
REPLICAS: Path = ("f:spec", "f:replicas")


def to_scale(managed: Managed, api_version: str, replicas: Path = REPLICAS) -> dict[Who, Entry]:
    """The managers of a Scale; `replicas` is where the workload has them in this version."""
    only = fieldsets.of_paths([REPLICAS])
    return {
        _renamed(identity, API_VERSION): Entry(API_VERSION, only, entry.time)
        for identity, entry in managed.items()
        if entry.api_version == api_version and fieldsets.has(entry.fields, replicas)
    }


def to_workload(managed: Managed, scaled: Managed, api_version: str, replicas: Path = REPLICAS) -> dict[Who, Entry]:
    """The managers of a workload whose Scale has these managers now."""
    only = fieldsets.of_paths([replicas])
    still = {_renamed(identity, api_version) for identity in scaled}
    left: dict[Who, Entry] = {}
    for identity, entry in managed.items():
        taken = entry.api_version == api_version and identity not in still
        fields = fieldsets.difference(entry.fields, only) if taken else entry.fields
        if fields:
            left[identity] = entry if fields is entry.fields else Entry(entry.api_version, fields, entry.time)
    for identity, entry in scaled.items():
        ours = _renamed(identity, api_version)
        if ours not in left and fieldsets.has(entry.fields, REPLICAS):
            # As kube-apiserver does, without a time: the Scale has none of its own.
            left[ours] = Entry(api_version, only)
    return left


def _renamed(identity: Who, api_version: str) -> Who:
    return identity if identity.operation == APPLY else identity._replace(api_version=api_version)
