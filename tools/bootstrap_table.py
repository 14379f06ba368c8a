"""The table of objects that a cluster has from its first moment: roles, bindings, flow control, API services.

The recording was made in a cluster that lacked four of them; those are written down here. What is the same for a
whole resource (apiVersion, kind, labels and annotations) is said once for all its objects, and so are the sets of
fields that their managedFields name: an object has the number of its set.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hardpoint.apiserver.managers import claim
from hardpoint.machinery.kinds import by_kind

Json = dict[str, Any]

RECORDED = ("clusterroles", "clusterrolebindings", "kube-system-roles", "prioritylevelconfigurations", "flowschemas")
RECORDED += ("apiservices",)
PLURALS = {
    "ClusterRole": "clusterroles",
    "ClusterRoleBinding": "clusterrolebindings",
    "Role": "roles",
    "RoleBinding": "rolebindings",
    "PriorityLevelConfiguration": "prioritylevelconfigurations",
    "FlowSchema": "flowschemas",
    "APIService": "apiservices",
}
"""In the order in which they are made: a flow schema refers to a priority level."""

RBAC = "rbac.authorization.k8s.io"
READ = ("get", "list", "watch")


def _rule(groups: tuple[str, ...], resource: str, *verbs: str, **more: Any) -> Json:
    return {"apiGroups": list(groups), **more, "resources": [resource], "verbs": list(verbs)}


_EVENTS = _rule(("", "events.k8s.io"), "events", "create", "patch", "update")
_DISRUPTION, _SIGNER = "system:controller:disruption-controller", "system:controller:bootstrap-signer"


def _binding(kind: str, role_kind: str, name: str, namespace: str = "") -> Json:
    account = name.rpartition(":")[2]
    return {
        "kind": kind,
        "metadata": {"name": name, **({"namespace": namespace} if namespace else {})},
        "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": "kube-system"}],
        "roleRef": {"apiGroup": RBAC, "kind": role_kind, "name": name},
    }


NOT_RECORDED: tuple[Json, ...] = (
    {
        "kind": "ClusterRole",
        "metadata": {"name": _DISRUPTION},
        "rules": [
            _rule(("apps", "extensions"), "deployments", *READ),
            _rule(("apps", "extensions"), "replicasets", *READ),
            _rule(("",), "replicationcontrollers", *READ),
            _rule(("policy",), "poddisruptionbudgets", *READ),
            _rule(("apps",), "statefulsets", *READ),
            _rule(("policy",), "poddisruptionbudgets/status", "update"),
            _rule(("",), "pods/status", "patch", "update"),
            _rule(("*",), "*/scale", "get"),
            _EVENTS,
        ],
    },
    _binding("ClusterRoleBinding", "ClusterRole", _DISRUPTION),
    {
        "kind": "Role",
        "metadata": {"name": _SIGNER, "namespace": "kube-public"},
        "rules": [
            _rule(("",), "configmaps", *READ),
            _rule(("",), "configmaps", "update", resourceNames=["cluster-info"]),
            _EVENTS,
        ],
    },
    _binding("RoleBinding", "Role", _SIGNER, "kube-public"),
)


def make(reference: Path) -> Json:
    """By resource: what its objects have in common, and what each has of its own, by namespace and name."""
    recorded = [obj for name in RECORDED for obj in json.loads((reference / f"bootstrap/{name}.json").read_text())]
    return {
        plural: _resource([obj for obj in recorded if obj["kind"] == kind], kind) for kind, plural in PLURALS.items()
    }


def _resource(recorded: list[Json], kind: str) -> Json:
    first = recorded[0]
    common = {
        field: _shared([obj["metadata"].get(field) or {} for obj in recorded]) for field in ("labels", "annotations")
    }
    objects = sorted([*recorded, *(obj for obj in NOT_RECORDED if obj["kind"] == kind)], key=_place)
    owns = [_own(obj, common) for obj in objects]
    entry = {
        "apiVersion": first["apiVersion"],
        "kind": kind,
        "metadata": {field: values for field, values in common.items() if values},
    }
    fields: list[Json] = []
    for own in owns:
        named = _fields(entry, own)
        if named not in fields:
            fields.append(named)
        own["fields"] = fields.index(named)
    return {**entry, "fields": fields, "objects": owns}


def _fields(entry: Json, own: Json) -> Json:
    """What whoever creates an object is noted to manage."""
    metadata = {**own["metadata"]}
    for field, shared in entry["metadata"].items():
        metadata[field] = {**shared, **metadata.get(field, {})}
    obj: Json = {"apiVersion": entry["apiVersion"], "kind": entry["kind"], **own, "metadata": metadata}
    kind = by_kind(entry["apiVersion"], entry["kind"])
    assert kind is not None, "what was recorded is served"
    claim(kind, obj, None, now="")
    fields: Json = obj["metadata"]["managedFields"][0]["fieldsV1"]
    return fields


def _shared(maps: list[Json]) -> Json:
    return {key: value for key, value in maps[0].items() if all(each.get(key) == value for each in maps)}


def _place(obj: Json) -> tuple[str, str]:
    return obj["metadata"].get("namespace", ""), obj["metadata"]["name"]


def _own(obj: Json, common: Json) -> Json:
    metadata = {key: value for key, value in obj["metadata"].items() if key in ("name", "namespace")}
    for field, shared in common.items():
        own = {key: value for key, value in (obj["metadata"].get(field) or {}).items() if key not in shared}
        if own:
            metadata[field] = own
    body = {key: value for key, value in obj.items() if key not in ("apiVersion", "kind", "metadata", "status")}
    return {"metadata": metadata, **body}
