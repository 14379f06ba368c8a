"""What the controllers of pods are completed with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hardpoint.machinery.defaults import podspec
from hardpoint.machinery.defaults.volumes import claim_spec

Json = dict[str, Any]


def _replication_controller(obj: Json) -> None:
    """The selector and the labels follow the template's labels where they say nothing."""
    spec = obj.setdefault("spec", {})
    spec.setdefault("replicas", 1)
    template = spec.get("template")
    if template is None:
        return
    podspec.template(template)
    labels = (template.get("metadata") or {}).get("labels")
    if labels:
        if not spec.get("selector"):
            spec["selector"] = dict(labels)
        metadata = obj.setdefault("metadata", {})
        if not metadata.get("labels"):
            metadata["labels"] = dict(labels)


def _deployment(obj: Json) -> None:
    spec = _replicated(obj)
    strategy = spec.setdefault("strategy", {})
    if strategy.setdefault("type", "RollingUpdate") == "RollingUpdate":
        rolling = strategy.setdefault("rollingUpdate", {})
        rolling.setdefault("maxUnavailable", "25%")
        rolling.setdefault("maxSurge", "25%")
    spec.setdefault("revisionHistoryLimit", 10)
    spec.setdefault("progressDeadlineSeconds", 600)


def _replica_set(obj: Json) -> None:
    _replicated(obj)


def _daemon_set(obj: Json) -> None:
    spec = obj.setdefault("spec", {})
    podspec.template(spec.setdefault("template", {}))
    strategy = spec.setdefault("updateStrategy", {})
    if strategy.setdefault("type", "RollingUpdate") == "RollingUpdate":
        rolling = strategy.setdefault("rollingUpdate", {})
        rolling.setdefault("maxUnavailable", 1)
        rolling.setdefault("maxSurge", 0)
    spec.setdefault("revisionHistoryLimit", 10)


def _stateful_set(obj: Json) -> None:
    spec = _replicated(obj)
    spec.setdefault("podManagementPolicy", "OrderedReady")
    strategy = spec.setdefault("updateStrategy", {})
    if "type" not in strategy:
        strategy["type"] = "RollingUpdate"
        strategy.setdefault("rollingUpdate", {})
    rolling = strategy.get("rollingUpdate")
    if strategy["type"] == "RollingUpdate" and rolling is not None:
        rolling.setdefault("partition", 0)
        rolling.setdefault("maxUnavailable", 1)
    retention = spec.setdefault("persistentVolumeClaimRetentionPolicy", {})
    retention.setdefault("whenDeleted", "Retain")
    retention.setdefault("whenScaled", "Retain")
    spec.setdefault("revisionHistoryLimit", 10)
    for claim in spec.get("volumeClaimTemplates") or ():
        _claim(claim)


def _claim(obj: Json) -> None:
    """A claim inside a stateful set is a whole object: it says what it is and that it waits for its volume."""
    obj["apiVersion"] = "v1"
    obj["kind"] = "PersistentVolumeClaim"
    claim_spec(obj.setdefault("spec", {}))
    obj.setdefault("status", {}).setdefault("phase", "Pending")


def _replicated(obj: Json) -> Json:
    spec: Json = obj.setdefault("spec", {})
    spec.setdefault("replicas", 1)
    podspec.template(spec.setdefault("template", {}))
    return spec


DEFAULTS: Mapping[str, Callable[[Json], None]] = {
    "DaemonSet": _daemon_set,
    "Deployment": _deployment,
    "ReplicaSet": _replica_set,
    "ReplicationController": _replication_controller,
    "StatefulSet": _stateful_set,
}
