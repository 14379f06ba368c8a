"""What pods and volumes refer to."""

from __future__ import annotations

from typing import Any

import pytest

from hardpoint.machinery import references

Json = dict[str, Any]


def _pod(status: Json | None = None, **spec: Any) -> Json:
    return {"metadata": {"name": "web"}, "spec": spec, "status": status or {}}


def _volume(**source: Any) -> Json:
    return _pod(volumes=[{"name": "v", **source}])


NAMED = {"name": "x"}

PODS = [
    pytest.param(_pod(), set(), id="a pod that names nothing"),
    pytest.param(_pod(serviceAccountName="x"), {("serviceaccounts", "x")}, id="its account"),
    pytest.param(_pod(imagePullSecrets=[NAMED, {}]), {("secrets", "x")}, id="pull secrets, if they have names"),
    *(
        pytest.param(
            _pod(**{group: [{"env": [{"name": "A", "valueFrom": {field: NAMED}}, {"name": "B", "value": "b"}]}]}),
            {(resource, "x")},
            id=f"{field} in {group}",
        )
        for group in ("containers", "initContainers", "ephemeralContainers")
        for field, resource in (("secretKeyRef", "secrets"), ("configMapKeyRef", "configmaps"))
    ),
    *(
        pytest.param(_pod(containers=[{"envFrom": [{field: NAMED}]}]), {(resource, "x")}, id=f"envFrom {field}")
        for field, resource in (("secretRef", "secrets"), ("configMapRef", "configmaps"))
    ),
    *(
        pytest.param(_volume(**{kind: {"secretRef": NAMED}}), {("secrets", "x")}, id=f"a {kind} volume")
        for kind in ("cephfs", "cinder", "flexVolume", "iscsi", "rbd", "scaleIO", "storageos")
    ),
    pytest.param(_volume(azureFile={"secretName": "x"}), {("secrets", "x")}, id="an azureFile volume"),
    pytest.param(_volume(secret={"secretName": "x"}), {("secrets", "x")}, id="a secret volume"),
    pytest.param(_volume(csi={"nodePublishSecretRef": NAMED}), {("secrets", "x")}, id="a csi volume"),
    pytest.param(_volume(csi={"driver": "d"}), set(), id="a csi volume without a secret"),
    pytest.param(_volume(configMap=NAMED), {("configmaps", "x")}, id="a configMap volume"),
    pytest.param(_volume(emptyDir={}), set(), id="a volume of its own"),
    pytest.param(
        _volume(projected={"sources": [{"secret": NAMED}, {"configMap": {"name": "y"}}, {"downwardAPI": {}}]}),
        {("secrets", "x"), ("configmaps", "y")},
        id="a projected volume",
    ),
    pytest.param(
        _volume(persistentVolumeClaim={"claimName": "x"}), {("persistentvolumeclaims", "x")}, id="a claim's volume"
    ),
    pytest.param(_volume(ephemeral={}), {("persistentvolumeclaims", "web-v")}, id="a volume made for the pod"),
    pytest.param(
        _pod(resourceClaims=[{"name": "a", "resourceClaimName": "x"}]), {("resourceclaims", "x")}, id="a device claim"
    ),
    pytest.param(
        _pod(
            {"resourceClaimStatuses": [{"name": "a", "resourceClaimName": "web-a-1"}, {"name": "b"}]},
            resourceClaims=[{"name": name, "resourceClaimTemplateName": "t"} for name in ("a", "b", "c")],
        ),
        {("resourceclaims", "web-a-1")},
        id="device claims made from a template, as far as they are made",
    ),
    pytest.param(
        _pod({"extendedResourceClaimStatus": {"resourceClaimName": "x"}}),
        {("resourceclaims", "x")},
        id="the claim made for extended resources",
    ),
]


@pytest.mark.parametrize(("pod", "expected"), PODS)
def test_pods(pod: Json, expected: set[tuple[str, str]]) -> None:
    assert set(references.of_pod(pod)) == expected


CLAIM = {"namespace": "team", "name": "data"}

VOLUMES = [
    *(
        pytest.param({kind: {"secretRef": NAMED}}, {("team", "x")}, id=f"{kind}, in the claim's namespace")
        for kind in ("cephfs", "flexVolume", "iscsi", "rbd", "scaleIO")
    ),
    *(
        pytest.param({kind: {"secretRef": {"name": "x", "namespace": "other"}}}, {("other", "x")}, id=f"{kind}")
        for kind in ("cephfs", "cinder", "flexVolume", "iscsi", "rbd", "scaleIO", "storageos")
    ),
    pytest.param({"azureFile": {"secretName": "x"}}, {("team", "x")}, id="azureFile, in the claim's namespace"),
    pytest.param({"azureFile": {"secretName": "x", "secretNamespace": "o"}}, {("o", "x")}, id="azureFile"),
    pytest.param(
        {
            "csi": {
                field: {"name": field, "namespace": "o"}
                for field in (
                    "controllerPublishSecretRef",
                    "controllerExpandSecretRef",
                    "nodePublishSecretRef",
                    "nodeStageSecretRef",
                    "nodeExpandSecretRef",
                )
            }
        },
        {("o", "nodePublishSecretRef"), ("o", "nodeStageSecretRef"), ("o", "nodeExpandSecretRef")},
        id="csi: what the node uses, not what the controller does",
    ),
    pytest.param({"hostPath": {"path": "/"}}, set(), id="a volume without secrets"),
]


@pytest.mark.parametrize(("source", "expected"), VOLUMES)
def test_volumes(source: Json, expected: set[tuple[str, str]]) -> None:
    assert set(references.of_volume({"spec": {"claimRef": CLAIM, **source}})) == expected
