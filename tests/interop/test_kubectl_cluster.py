"""What kubectl finds out about a cluster: resources, schemas, versions, who one is, and what is not there."""

from __future__ import annotations

import base64
import hashlib
import json
import ssl
import urllib.request

import pytest
import yaml

from tests.interop.kubectl import Kubectl
from tests.interop.samples import deployment, pod


def test_version(admin: Kubectl) -> None:
    assert admin.json("version")["serverVersion"]["gitVersion"].startswith("v1.37.")


def test_api_resources(admin: Kubectl) -> None:
    rows = {row[0]: row for row in admin("api-resources", "--no-headers").rows}
    assert rows["pods"] == ["pods", "po", "v1", "true", "Pod"]
    assert rows["deployments"] == ["deployments", "deploy", "apps/v1", "true", "Deployment"]
    assert rows["clusterroles"][-2:] == ["false", "ClusterRole"]
    listable = admin("api-resources", "--verbs", "list", "--namespaced", "-o", "name").lines
    assert "endpointslices.discovery.k8s.io" in listable
    assert "bindings" not in listable


def test_api_versions(admin: Kubectl) -> None:
    told = admin("api-versions").lines
    assert told == sorted(told)
    assert {"v1", "apps/v1", "batch/v1", "networking.k8s.io/v1", "autoscaling/v2"} <= set(told)


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("pod", ["KIND:       Pod", "VERSION:    v1", "spec\t<PodSpec>"]),
        ("deployment.spec.strategy", ["GROUP:      apps", "rollingUpdate\t<RollingUpdateDeployment>"]),
        ("pod.spec.containers.ports", ["FIELD: ports <[]ContainerPort>", "containerPort\t<integer> -required-"]),
        ("hpa.spec.metrics", ["VERSION:    v2"]),
    ],
)
def test_explain(admin: Kubectl, path: str, said: list[str]) -> None:
    told = admin("explain", path).out
    for part in said:
        assert part in told


def test_explain_everything_below(admin: Kubectl) -> None:
    told = admin("explain", "service", "--recursive").out
    assert "      targetPort\t<IntOrString>" in told
    assert "field" in admin.fails("explain", "pod.spec.nothing")


def test_explain_an_older_version(admin: Kubectl) -> None:
    told = admin("explain", "hpa", "--api-version", "autoscaling/v1").out
    assert "VERSION:    v1" in told


def test_cluster_info(admin: Kubectl) -> None:
    assert "Kubernetes control plane" in admin("cluster-info").out


def test_whoami(admin: Kubectl) -> None:
    user = admin.json("auth", "whoami")["status"]["userInfo"]
    assert user["groups"] == ["system:masters", "system:authenticated"]
    config = yaml.safe_load(admin.kubeconfig.read_text())
    certificate = base64.b64decode(config["users"][0]["user"]["client-certificate-data"]).decode()
    fingerprint = hashlib.sha256(ssl.PEM_cert_to_DER_cert(certificate)).hexdigest()
    assert user["extra"] == {"authentication.kubernetes.io/credential-id": [f"X509SHA256={fingerprint}"]}


def test_can_i(admin: Kubectl) -> None:
    assert admin("auth", "can-i", "create", "pods").out == "yes\n"
    assert "*.*" in admin("auth", "can-i", "--list").out


def test_top_says_that_nobody_measures(admin: Kubectl) -> None:
    assert admin.fails("top", "node") == "error: Metrics API not available"
    assert admin.fails("top", "pod") == "error: Metrics API not available"


def test_proxy(kubectl: Kubectl) -> None:
    kubectl.create(pod("web"))
    with kubectl.running("proxy", "--port", "0") as told:
        address = told.readline().split()[-1]
        url = f"http://{address}/api/v1/namespaces/{kubectl.namespace}/pods/web"
        with urllib.request.urlopen(url, timeout=10) as answer:
            assert json.load(answer)["metadata"]["name"] == "web"


@pytest.mark.parametrize("arguments", ["exec web -- true", "attach web"])
def test_pods_that_run_nowhere(kubectl: Kubectl, arguments: str) -> None:
    kubectl.create(pod("web"))
    assert kubectl("logs", "web").out == ""
    said = kubectl.fails(*arguments.split())
    assert said.endswith(": pod web does not have a host assigned")


def test_run_and_expose(kubectl: Kubectl) -> None:
    assert kubectl("run", "web", "--image", "nginx", "--port", "8080").out == "pod/web created\n"
    assert kubectl("expose", "pod", "web", "--port", "80").out == "service/web exposed\n"
    spec = kubectl.json("get", "service", "web")["spec"]
    assert (spec["selector"], spec["ports"][0]["targetPort"]) == ({"run": "web"}, 80)
    assert spec["clusterIP"] == spec["clusterIPs"][0]


@pytest.mark.parametrize("kind", ["deployment", "statefulset", "replicaset"])
def test_scale(kubectl: Kubectl, kind: str) -> None:
    wanted = deployment("web", replicas=2)
    wanted["kind"] = {"deployment": "Deployment", "statefulset": "StatefulSet", "replicaset": "ReplicaSet"}[kind]
    kubectl.create(wanted)
    assert kubectl("scale", kind, "web", "--replicas", "5").out == f"{kind}.apps/web scaled\n"
    assert kubectl.json("get", kind, "web")["spec"]["replicas"] == 5
    assert kubectl.fails("scale", kind, "web", "--replicas", "1", "--current-replicas", "2") == (
        "error: Expected replicas to be 2, was 5"
    )


def test_set_and_roll_out(kubectl: Kubectl) -> None:
    kubectl.create(deployment("web"))
    kubectl("set", "image", "deployment/web", "main=nginx:1.28")
    kubectl("set", "env", "deployment/web", "COLOUR=blue")
    kubectl("set", "resources", "deployment/web", "--limits", "cpu=1,memory=64Mi")
    kubectl("set", "serviceaccount", "deployment/web", "robot")
    kubectl("rollout", "restart", "deployment/web")
    kubectl("rollout", "pause", "deployment/web")
    found = kubectl.json("get", "deployment", "web")
    inside = found["spec"]["template"]["spec"]
    assert inside["containers"][0]["image"] == "nginx:1.28"
    assert inside["containers"][0]["env"] == [{"name": "COLOUR", "value": "blue"}]
    assert inside["containers"][0]["resources"]["limits"] == {"cpu": "1", "memory": "64Mi"}
    assert inside["serviceAccountName"] == "robot"
    assert found["spec"]["paused"] is True
    assert found["metadata"]["generation"] == 7


def test_rollout_history_reads_replica_sets(kubectl: Kubectl) -> None:
    kubectl.create(deployment("web"))
    owner = kubectl.json("get", "deployment", "web")["metadata"]
    for revision in ("1", "2"):
        made = deployment(f"web-{revision}")
        made["kind"] = "ReplicaSet"
        made["metadata"] = {
            "name": f"web-{revision}",
            "labels": {"app": "web"},
            "annotations": {"deployment.kubernetes.io/revision": revision},
            "ownerReferences": [
                {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": owner["uid"], "controller": True}
            ],
        }
        made["spec"]["selector"]["matchLabels"] = made["spec"]["template"]["metadata"]["labels"] = {"app": "web"}
        kubectl.create(made)
    told = kubectl("rollout", "history", "deployment/web")
    assert [line.split() for line in told.lines[1:] if line] == [
        ["REVISION", "CHANGE-CAUSE"],
        ["1", "<none>"],
        ["2", "<none>"],
    ]


def test_autoscale(kubectl: Kubectl) -> None:
    kubectl.create(deployment("web"))
    kubectl("autoscale", "deployment", "web", "--min", "1", "--max", "3", "--cpu-percent", "80")
    assert kubectl("get", "hpa", "web").rows[0][:3] == ["web", "Deployment/web", "cpu:"]
    older = kubectl.json("get", "horizontalpodautoscalers.v1.autoscaling", "web")
    assert older["spec"]["targetCPUUtilizationPercentage"] == 80
