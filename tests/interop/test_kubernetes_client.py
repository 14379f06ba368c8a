"""The official Python client, typed and dynamic, unmodified."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.interop.samples import config_map, deployment, pod

pytest.importorskip("kubernetes", reason="make interop installs it")

from kubernetes import client, config, dynamic, watch  # may be missing
from kubernetes.utils import create_from_dict


@pytest.fixture
def api(kubeconfig: Path) -> Iterator[client.ApiClient]:
    with config.new_client_from_config(str(kubeconfig)) as api:
        yield api


def test_typed_objects_go_in_and_come_out(api: client.ApiClient, namespace: str) -> None:
    apps = client.AppsV1Api(api)
    made = apps.create_namespaced_deployment(namespace, deployment("web", replicas=2))
    assert (made.spec.replicas, made.spec.strategy.rolling_update.max_surge) == (2, "25%")
    made.spec.replicas = 4
    assert apps.replace_namespaced_deployment("web", namespace, made).metadata.generation == 2
    assert apps.read_namespaced_deployment_scale("web", namespace).spec.replicas == 4
    apps.patch_namespaced_deployment_scale("web", namespace, {"spec": {"replicas": 1}})
    assert apps.read_namespaced_deployment("web", namespace).spec.replicas == 1


def test_lists_pages_and_selectors(api: client.ApiClient, namespace: str) -> None:
    core = client.CoreV1Api(api)
    for number in range(5):
        core.create_namespaced_config_map(namespace, config_map(f"c{number}", labels={"odd": str(number % 2)}))
    names, more = [], None
    while more != "":
        page = core.list_namespaced_config_map(namespace, limit=2, label_selector="odd", _continue=more or "")
        names += [item.metadata.name for item in page.items]
        more = page.metadata._continue or ""
    assert names == ["c0", "c1", "c2", "c3", "c4"]
    odd = core.list_namespaced_config_map(namespace, label_selector="odd=1")
    assert [item.metadata.name for item in odd.items] == ["c1", "c3"]


def test_a_watch_goes_on_from_a_list(api: client.ApiClient, namespace: str) -> None:
    core = client.CoreV1Api(api)
    start = core.list_namespaced_pod(namespace).metadata.resource_version
    core.create_namespaced_pod(namespace, pod("web"))
    core.patch_namespaced_pod("web", namespace, {"metadata": {"labels": {"seen": "yes"}}})
    core.delete_namespaced_pod("web", namespace)
    seen = []
    follower = watch.Watch()
    for event in follower.stream(core.list_namespaced_pod, namespace, resource_version=start, timeout_seconds=30):
        seen.append((event["type"], event["object"].metadata.name))
        if event["type"] == "DELETED":
            follower.stop()
    assert seen == [("ADDED", "web"), ("MODIFIED", "web"), ("DELETED", "web")]


@pytest.mark.parametrize(
    ("content_type", "patch"),
    [
        ("application/json-patch+json", [{"op": "add", "path": "/data/b", "value": "2"}]),
        ("application/merge-patch+json", {"data": {"b": "2"}}),
        ("application/strategic-merge-patch+json", {"data": {"b": "2"}}),
    ],
)
def test_patches(api: client.ApiClient, namespace: str, content_type: str, patch: Any) -> None:
    core = client.CoreV1Api(api)
    core.create_namespaced_config_map(namespace, config_map("motd", a="1"))
    found = core.patch_namespaced_config_map("motd", namespace, patch, _content_type=content_type)
    assert found.data == {"a": "1", "b": "2"}


def test_refusals_are_exceptions(api: client.ApiClient, namespace: str) -> None:
    core = client.CoreV1Api(api)
    with pytest.raises(client.ApiException) as caught:
        core.read_namespaced_pod("nobody", namespace)
    assert (caught.value.status, caught.value.reason) == (404, "Not Found")
    core.create_namespaced_config_map(namespace, config_map("motd"))
    with pytest.raises(client.ApiException) as caught:
        core.create_namespaced_config_map(namespace, config_map("motd"))
    assert caught.value.status == 409


def test_deleting_collections(api: client.ApiClient, namespace: str) -> None:
    core = client.CoreV1Api(api)
    for name in "ab":
        core.create_namespaced_config_map(namespace, config_map(name, labels={"name": name}))
    core.delete_collection_namespaced_config_map(namespace, label_selector="name=a")
    left = core.list_namespaced_config_map(namespace, label_selector="name").items
    assert [item.metadata.name for item in left] == ["b"]


def test_every_kind_of_discovery(api: client.ApiClient) -> None:
    assert "v1" in client.CoreApi(api).get_api_versions().versions
    groups = {group.name for group in client.ApisApi(api).get_api_versions().groups}
    assert {"apps", "batch", "rbac.authorization.k8s.io"} <= groups
    assert client.VersionApi(api).get_code().minor == "37"
    assert "deployments/scale" in {each.name for each in client.AppsV1Api(api).get_api_resources().resources}


def test_the_dynamic_client(api: client.ApiClient, namespace: str, tmp_path: Path) -> None:
    found = dynamic.DynamicClient(api, cache_file=str(tmp_path / "cache"))
    config_maps = found.resources.get(api_version="v1", kind="ConfigMap")
    config_maps.create(body=config_map("motd", a="1"), namespace=namespace)
    config_maps.patch(
        body={"data": {"b": "2"}}, name="motd", namespace=namespace, content_type="application/merge-patch+json"
    )
    assert config_maps.get(name="motd", namespace=namespace).data.to_dict() == {"a": "1", "b": "2"}
    events = config_maps.watch(namespace=namespace, name="motd", timeout=10)
    assert next(events)["type"] == "ADDED"
    events.close()


def test_create_from_dict(api: client.ApiClient, namespace: str) -> None:
    wanted = {"apiVersion": "v1", "kind": "List", "items": [config_map("one"), config_map("two")]}
    create_from_dict(api, wanted, namespace=namespace)
    assert client.CoreV1Api(api).read_namespaced_config_map("two", namespace).metadata.name == "two"
