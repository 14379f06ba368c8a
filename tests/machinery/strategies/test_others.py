"""What happens to objects on their way in, and what their owners are warned about."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from tests.machinery.walk import Json, changed, replaced, warnings, written


def of(api_version: str, kind: str, **fields: Any) -> Json:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "x"}, **fields}


def tls(certificate: str, key: str = "") -> Json:
    data = {
        "tls.crt": base64.b64encode(certificate.encode()).decode(),
        "tls.key": base64.b64encode(key.encode()).decode(),
    }
    return of("v1", "Secret", type="kubernetes.io/tls", data=data)


def pem(kind: str) -> str:
    return f"-----BEGIN {kind}-----\nAAAA\n-----END {kind}-----\n"


SERVICE = of("v1", "Service", spec={"ports": [{"port": 80}]})
VOLUME = of("v1", "PersistentVolume", spec={"persistentVolumeReclaimPolicy": "Recycle", "rbd": {}})
QUOTA = of("v1", "ResourceQuota", spec={"hard": {"cpu": "2", "limits.cpu": "1"}})
POLICY = of(
    "networking.k8s.io/v1", "NetworkPolicy", spec={"ingress": [{"from": [{"ipBlock": {"cidr": "10.0.0.1/8"}}]}]}
)


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (SERVICE, []),
        (
            changed(SERVICE, "spec.externalName", "a.example.com"),
            ['spec.externalName is ignored when spec.type is not "ExternalName"'],
        ),
        (
            changed(SERVICE, "spec.trafficDistribution", "PreferClose"),
            ['spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"'],
        ),
        (
            changed(SERVICE, "spec.externalIPs", ["10.0.0.1"]),
            ["spec.externalIPs is deprecated and may no longer be implemented in some clusters"],
        ),
        (tls("x"), ["tls: failed to find any PEM data in certificate input"]),
        (tls(pem("CERTIFICATE"), "x"), ["tls: failed to find any PEM data in key input"]),
        (
            tls(pem("CERTIFICATE"), pem("CERTIFICATE")),
            ["tls: found a certificate rather than a key in the PEM for the private key"],
        ),
        (
            tls(pem("EC PRIVATE KEY")),
            [
                "tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM"
                " inputs may"
                " have been switched"
            ],
        ),
        (
            VOLUME,
            [
                "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended"
                " approach is to use dynamic provisioning.",
                "spec.rbd: deprecated in v1.28, non-functional in v1.31+",
            ],
        ),
        (QUOTA, ["ResourceQuota cpu (2) should be less than limits.cpu (1)"]),
        (
            POLICY,
            [
                'spec.ingress[0].from[0].ipBlock.cidr: CIDR value "10.0.0.1/8" is ambiguous in this context'
                ' (should be "10.0.0.0/8" or "10.0.0.1/32"?)'
            ],
        ),
        (
            of("v1", "Node", spec={"externalID": "e"}),
            ["spec.externalID: this field is deprecated, and is unused by Kubernetes"],
        ),
    ],
)
def test_what_is_unwise(body: Json, told: list[str]) -> None:
    assert warnings(body) == told


def test_a_claims_two_data_sources_say_the_same() -> None:
    snapshot = {"apiGroup": "snapshot.storage.k8s.io", "kind": "VolumeSnapshot", "name": "s"}
    spec = written(of("v1", "PersistentVolumeClaim", spec={"dataSource": snapshot}))["spec"]
    assert spec["dataSource"] == spec["dataSourceRef"] == snapshot
    populator = {"apiGroup": "sea.example.com", "kind": "Boat", "name": "b"}
    assert written(of("v1", "PersistentVolumeClaim", spec={"dataSource": populator}))["spec"].get("dataSource") is None
    spec = written(of("v1", "PersistentVolumeClaim", spec={"dataSourceRef": populator}))["spec"]
    assert spec["dataSource"] == populator


def test_a_service_account_refers_to_secrets_by_name_only() -> None:
    account = of("v1", "ServiceAccount", secrets=[{"name": "s", "uid": "u", "kind": "Secret"}])
    assert written(account)["secrets"] == [{"name": "s"}]


def test_a_namespace_is_released_by_its_own_endpoint_only() -> None:
    old = of("v1", "Namespace")
    obj, _ = replaced(changed(old, "spec.finalizers", []), old)
    assert obj["spec"]["finalizers"] == ["kubernetes"]


@pytest.mark.parametrize(
    ("body", "path"),
    [
        (of("rbac.authorization.k8s.io/v1", "Role", rules=[]), "rules"),
        (of("discovery.k8s.io/v1", "EndpointSlice", endpoints=[], ports=[]), "ports"),
    ],
)
def test_an_empty_list_is_stored_as_none(body: Json, path: str) -> None:
    assert written(body)[path] is None
