"""Tokens in the hands of real clients: kubectl asks for one and uses it, and a pod's files are enough for a client."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest
import yaml

from hardpoint.client.client import Client
from hardpoint.client.endpoint import in_cluster
from hardpoint.client.http import HttpTransport
from tests.interop.kubectl import Kubectl
from tests.interop.samples import config_map, pod

Json = dict[str, Any]


def as_token(kubectl: Kubectl, token: str) -> tuple[str, ...]:
    """The flags that make kubectl show nothing but a token."""
    config = yaml.safe_load(kubectl.kubeconfig.read_text())
    authority = kubectl.home / "ca.crt"
    cluster = config["clusters"][0]["cluster"]
    authority.write_bytes(base64.b64decode(cluster["certificate-authority-data"]))
    empty = kubectl.home / "empty"
    empty.touch()
    return (
        *("--kubeconfig", str(empty), "--server", cluster["server"]),
        *("--certificate-authority", str(authority), "--token", token),
    )


def test_kubectl_creates_a_token_and_uses_it(kubectl: Kubectl) -> None:
    kubectl("create", "serviceaccount", "robot")
    token = kubectl("create", "token", "robot", "--duration", "10m").out.strip()
    flags = as_token(kubectl, token)
    told = kubectl("auth", "whoami", "-o", "json", *flags)
    user = yaml.safe_load(told.out)["status"]["userInfo"]
    assert user["username"] == f"system:serviceaccount:{kubectl.namespace}:robot"
    assert f"system:serviceaccounts:{kubectl.namespace}" in user["groups"]
    assert "Forbidden" in kubectl.fails("get", "pods", *flags)
    kubectl("create", "rolebinding", "robot", "--clusterrole", "view", f"--serviceaccount={kubectl.namespace}:robot")
    assert "No resources found" in kubectl("get", "pods", *flags).err


def test_kubectl_binds_a_token(kubectl: Kubectl) -> None:
    kubectl("create", "serviceaccount", "robot")
    kubectl("create", "secret", "generic", "anchor")
    token = kubectl(
        *("create", "token", "robot", "--bound-object-kind", "Secret", "--bound-object-name", "anchor"),
        *("--audience", "https://kubernetes.default.svc.cluster.local"),
    ).out.strip()
    flags = as_token(kubectl, token)
    kubectl("auth", "whoami", *flags)
    kubectl("delete", "secret", "anchor")
    assert "Unauthorized" in kubectl.fails("auth", "whoami", *flags)


def test_a_secret_gets_a_token_that_kubectl_can_use(kubectl: Kubectl) -> None:
    kubectl("create", "serviceaccount", "robot")
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": "kubernetes.io/service-account-token",
        "metadata": {"name": "key", "annotations": {"kubernetes.io/service-account.name": "robot"}},
    }
    kubectl("apply", "-f", "-", stdin=yaml.safe_dump(secret))
    kubectl("wait", "secret", "key", "--for", "jsonpath={.data.token}", "--timeout", "20s")
    token = base64.b64decode(kubectl("get", "secret", "key", "-o", "jsonpath={.data.token}").out).decode()
    told = kubectl("auth", "whoami", "-o", "yaml", *as_token(kubectl, token)).out
    assert f"system:serviceaccount:{kubectl.namespace}:robot" in told


def mounted(kubectl: Kubectl, folder: Path) -> tuple[Path, dict[str, str]]:
    """What a pod of the account `robot` finds in its container: files in a folder, and the environment."""
    kubectl("create", "serviceaccount", "robot")
    kubectl("create", "rolebinding", "robot", "--clusterrole", "edit", f"--serviceaccount={kubectl.namespace}:robot")
    robots = pod("web")
    robots["spec"]["serviceAccountName"] = "robot"
    kubectl("create", "-f", "-", stdin=yaml.safe_dump(robots))
    found = kubectl.json("get", "pod", "web")
    [volume] = [each["projected"] for each in found["spec"]["volumes"] if each["name"].startswith("kube-api-access-")]
    sources: Json = {}
    for source in volume["sources"]:
        sources |= source
    asked = sources["serviceAccountToken"]
    token = kubectl(
        *("create", "token", "robot", "--bound-object-kind", "Pod", "--bound-object-name", "web"),
        *("--duration", f"{asked['expirationSeconds']}s"),
    ).out.strip()
    authority = kubectl.json("get", "configmap", sources["configMap"]["name"])["data"]["ca.crt"]
    folder.mkdir(exist_ok=True)
    (folder / asked["path"]).write_text(token)
    (folder / sources["configMap"]["items"][0]["path"]).write_text(authority)
    (folder / sources["downwardAPI"]["items"][0]["path"]).write_text(kubectl.namespace)
    config = yaml.safe_load(kubectl.kubeconfig.read_text())
    host, _, port = config["clusters"][0]["cluster"]["server"].removeprefix("https://").rpartition(":")
    return folder, {"KUBERNETES_SERVICE_HOST": host, "KUBERNETES_SERVICE_PORT": port}


def test_the_official_python_client_in_a_pod(kubectl: Kubectl, tmp_path: Path) -> None:
    pytest.importorskip("kubernetes", reason="make interop installs it")
    from kubernetes import client
    from kubernetes.config.incluster_config import InClusterConfigLoader

    folder, environment = mounted(kubectl, tmp_path / "mounted")
    configuration = client.Configuration()
    loader = InClusterConfigLoader(
        token_filename=str(folder / "token"), cert_filename=str(folder / "ca.crt"), environ=environment
    )
    loader.load_and_set(configuration)
    with client.ApiClient(configuration) as api:
        core = client.CoreV1Api(api)
        core.create_namespaced_config_map(kubectl.namespace, config_map("motd", a="1"))
        assert core.read_namespaced_config_map("motd", kubectl.namespace).data == {"a": "1"}
        review = client.AuthenticationV1Api(api).create_self_subject_review({})
        assert review.status.user_info.username == f"system:serviceaccount:{kubectl.namespace}:robot"
        assert review.status.user_info.extra["authentication.kubernetes.io/pod-name"] == ["web"]
        with pytest.raises(client.ApiException) as refused:
            core.list_namespaced_secret("kube-system")
        assert refused.value.status == 403


async def test_our_client_in_a_pod(kubectl: Kubectl, tmp_path: Path) -> None:
    folder, environment = mounted(kubectl, tmp_path / "mounted")
    endpoint = in_cluster(environment, folder)
    assert endpoint is not None
    async with Client(HttpTransport(endpoint), namespace=endpoint.namespace) as client:
        await client.create(config_map("motd", a="1"))
        assert (await client.get("v1 ConfigMap", "motd"))["data"] == {"a": "1"}
