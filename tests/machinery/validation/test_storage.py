"""Volumes, claims and the kinds of storage.k8s.io."""

from __future__ import annotations

from typing import Any

import pytest

from tests.machinery.walk import GONE, Json, changed, complaints, replaced

VOLUME: Json = {
    "apiVersion": "v1",
    "kind": "PersistentVolume",
    "metadata": {"name": "v"},
    "spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "nfs": {"server": "s", "path": "/p"}},
}
CLAIM: Json = {
    "apiVersion": "v1",
    "kind": "PersistentVolumeClaim",
    "metadata": {"name": "c"},
    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
}


def storage(kind: str, **fields: Any) -> Json:
    return {"apiVersion": "storage.k8s.io/v1", "kind": kind, "metadata": {"name": "x"}, **fields}


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        ("capacity", {"storage": "2Gi"}, []),
        (
            "capacity.cpu",
            "1",
            ['capacity: Unsupported value: {"cpu":"1","storage":"1Gi"}: supported values: "storage"'],
        ),
        (
            "accessModes",
            ["ReadWriteOncePod", "ReadOnlyMany"],
            ["accessModes: Forbidden: may not use ReadWriteOncePod with other access modes"],
        ),
        ("hostPath", {"path": "/x"}, ["nfs: Forbidden: may not specify more than 1 volume type"]),
        ("nfs", GONE, [": Required value: must specify a volume type"]),
        ("nfs.path", "p", ['nfs.path: Invalid value: "p": must be an absolute path']),
        (
            "volumeAttributesClassName",
            "",
            [
                "volumeAttributesClassName: Required value: an empty string is disallowed",
                "csi: Required value: has to be specified when using volumeAttributesClassName",
            ],
        ),
    ],
)
def test_volumes(path: str, value: Any, told: list[str]) -> None:
    assert complaints(changed(VOLUME, f"spec.{path}", value)) == [f"spec.{text}".replace(".:", ":") for text in told]


def test_local_volumes_need_a_place() -> None:
    local = changed(changed(VOLUME, "spec.nfs", GONE), "spec.local", {"path": "/disk"})
    assert complaints(local) == ["spec.nodeAffinity: Required value: Local volume requires node affinity"]


def test_a_volume_keeps_its_source() -> None:
    _, told = replaced(changed(VOLUME, "spec.nfs.server", "other"), VOLUME)
    assert told == ["spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after creation"]


def test_a_claim_grows_only_when_bound() -> None:
    bigger = changed(CLAIM, "spec.resources.requests.storage", "2Gi")
    _, told = replaced(bigger, CLAIM)
    assert [text.partition("\n")[0] for text in told] == [
        "spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName"
        " for bound claims"
    ]


def test_a_claim_may_be_given_a_volume_and_a_class_once() -> None:
    bound = changed(changed(CLAIM, "spec.volumeName", "v"), "spec.storageClassName", "fast")
    assert replaced(bound, CLAIM)[1] == []
    assert len(replaced(changed(bound, "spec.volumeName", "w"), bound)[1]) == 1


CLASS = storage("StorageClass", provisioner="p.example.com", parameters={"a": "b"})
ATTACHMENT = storage(
    "VolumeAttachment", spec={"attacher": "d.example.com", "nodeName": "n", "source": {"persistentVolumeName": "v"}}
)
CSI_NODE = storage("CSINode", spec={"drivers": [{"name": "d.example.com", "nodeID": "n", "topologyKeys": ["zone"]}]})
DRIVER = storage("CSIDriver", spec={})
CAPACITY = storage("CSIStorageCapacity", storageClassName="fast", capacity="1Gi")
ATTRIBUTES = storage("VolumeAttributesClass", driverName="d.example.com", parameters={"iops": "5"})


@pytest.mark.parametrize("body", [CLASS, ATTACHMENT, CSI_NODE, DRIVER, CAPACITY, ATTRIBUTES])
def test_a_plain_one_is_fine(body: Json) -> None:
    assert complaints(body) == []


@pytest.mark.parametrize(
    ("body", "path", "value", "told"),
    [
        (
            CLASS,
            "reclaimPolicy",
            "Recycle",
            ['reclaimPolicy: Unsupported value: "Recycle": supported values: "Delete", "Retain"'],
        ),
        (
            CLASS,
            "allowedTopologies",
            [{"matchLabelExpressions": [{"key": "zone", "values": []}]}],
            ["allowedTopologies[0].matchLabelExpressions[0].values: Required value"],
        ),
        (
            ATTACHMENT,
            "spec.source",
            {},
            ["spec.source: Required value: must specify exactly one of inlineVolumeSpec and persistentVolumeName"],
        ),
        (
            ATTACHMENT,
            "spec.source",
            {"inlineVolumeSpec": {"accessModes": ["ReadWriteOnce"], "nfs": {"server": "s", "path": "/p"}}},
            ["spec.source.inlineVolumeSpec.csi: Required value: has to be specified in the context of inline volumes"],
        ),
        (CSI_NODE, "spec.drivers.0.topologyKeys", ["zone", "zone"], ['spec.drivers[0]: Duplicate value: "zone"']),
        (
            CSI_NODE,
            "spec.drivers.0.nodeID",
            "n" * 257,
            [f'spec.drivers[0].nodeID: Invalid value: "{"n" * 257}": must be 256 characters or less'],
        ),
        (
            DRIVER,
            "spec.volumeLifecycleModes",
            ["Now"],
            ['spec.volumeLifecycleModes: Unsupported value: "Now": supported values: "Persistent", "Ephemeral"'],
        ),
        (
            DRIVER,
            "spec.tokenRequests",
            [{"audience": "a", "expirationSeconds": 1}],
            [
                "spec.tokenRequests[0].expirationSeconds: Invalid value: 1: may not specify a duration less than"
                " 10 minutes"
            ],
        ),
        (CAPACITY, "capacity", "-1", ['capacity: Invalid value: "-1": must be greater than or equal to 0']),
        (ATTRIBUTES, "parameters", GONE, ["parameters: Required value: must contain at least one key/value pair"]),
    ],
)
def test_storage_kinds(body: Json, path: str, value: Any, told: list[str]) -> None:
    assert complaints(changed(body, path, value)) == told


@pytest.mark.parametrize(
    ("body", "path", "value", "told"),
    [
        (CLASS, "parameters.a", "c", ["parameters: Invalid value: null: field is immutable"]),
        (CLASS, "allowVolumeExpansion", True, []),
        (DRIVER, "spec.attachRequired", False, ["spec.attachedRequired: Invalid value: false: field is immutable"]),
        (CAPACITY, "storageClassName", "slow", ['storageClassName: Invalid value: "slow": field is immutable']),
        (CAPACITY, "capacity", "2Gi", []),
        (ATTRIBUTES, "parameters.iops", "6", ["parameters: Forbidden: updates to parameters are forbidden."]),
        (CSI_NODE, "spec.drivers.0.allocatable", {"count": 3}, []),
        (
            CSI_NODE,
            "spec.drivers.0.nodeID",
            "m",
            [
                'spec.drivers: Invalid value: {"Name":"d.example.com","NodeID":"m","TopologyKeys":["zone"],'
                '"Allocatable":null}: field is immutable'
            ],
        ),
    ],
)
def test_what_may_change(body: Json, path: str, value: Any, told: list[str]) -> None:
    assert replaced(changed(body, path, value), body)[1] == told
