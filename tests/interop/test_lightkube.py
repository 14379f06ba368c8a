"""lightkube, unmodified: models generated from the same OpenAPI, requests by httpx."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.interop.samples import config_map, deployment

pytest.importorskip("lightkube.core.client", reason="make interop installs it")

from lightkube import ALL_NS, AsyncClient, Client, KubeConfig, codecs  # may be missing
from lightkube.core.exceptions import ApiError
from lightkube.models.autoscaling_v1 import ScaleSpec
from lightkube.resources.apps_v1 import Deployment
from lightkube.resources.core_v1 import ConfigMap, Pod
from lightkube.types import PatchType


@pytest.fixture
def lightkube(kubeconfig: Path, namespace: str) -> Iterator[Client]:
    with Client(KubeConfig.from_file(kubeconfig), namespace=namespace) as client:
        yield client


def test_objects_come_and_go(lightkube: Client) -> None:
    made = lightkube.create(ConfigMap.from_dict(config_map("motd", text="hello")))
    made.data["text"] = "goodbye"
    lightkube.replace(made)
    assert lightkube.get(ConfigMap, "motd").data == {"text": "goodbye"}
    lightkube.delete(ConfigMap, "motd")
    with pytest.raises(ApiError) as caught:
        lightkube.get(ConfigMap, "motd")
    assert caught.value.status.reason == "NotFound"


def test_lists_page_by_themselves(lightkube: Client) -> None:
    for number in range(5):
        lightkube.create(ConfigMap.from_dict(config_map(f"c{number}", labels={"page": "yes"})))
    found = lightkube.list(ConfigMap, labels={"page": "yes"}, chunk_size=2)
    assert [each.metadata.name for each in found] == ["c0", "c1", "c2", "c3", "c4"]
    assert next(iter(lightkube.list(Pod, namespace=ALL_NS, fields={"metadata.name": "nobody"})), None) is None


@pytest.mark.parametrize("kind", [PatchType.STRATEGIC, PatchType.MERGE])
def test_patches(lightkube: Client, kind: PatchType) -> None:
    lightkube.create(ConfigMap.from_dict(config_map("motd", a="1")))
    assert lightkube.patch(ConfigMap, "motd", {"data": {"b": "2"}}, patch_type=kind).data == {"a": "1", "b": "2"}


def test_scale(lightkube: Client) -> None:
    lightkube.create(Deployment.from_dict(deployment("web")))
    lightkube.replace(
        Deployment.Scale(metadata=lightkube.get(Deployment.Scale, "web").metadata, spec=ScaleSpec(replicas=3)), "web"
    )
    assert lightkube.get(Deployment, "web").spec.replicas == 3


def test_manifests(lightkube: Client, tmp_path: Path) -> None:
    manifest = tmp_path / "web.yaml"
    manifest.write_text(codecs.dump_all_yaml([Deployment.from_dict(deployment("web"))]))
    with manifest.open() as opened:
        for wanted in codecs.load_all_yaml(opened):
            lightkube.create(wanted)
    assert lightkube.get(Deployment, "web").metadata.generation == 1


async def test_watch(kubeconfig: Path, namespace: str) -> None:
    client = AsyncClient(KubeConfig.from_file(kubeconfig), namespace=namespace)
    await client.create(ConfigMap.from_dict(config_map("motd", labels={"seen": "yes"})))
    seen = []
    async with asyncio.timeout(30):
        async for event, found in client.watch(ConfigMap, labels={"seen": "yes"}):
            seen.append((event, found.metadata.name))
            if event == "DELETED":
                break
            await client.delete(ConfigMap, "motd")
    assert seen == [("ADDED", "motd"), ("DELETED", "motd")]
    await client.close()


async def test_wait(kubeconfig: Path, namespace: str) -> None:
    client = AsyncClient(KubeConfig.from_file(kubeconfig), namespace=namespace)
    await client.create(Deployment.from_dict(deployment("web")))
    condition = {"type": "Available", "status": "True", "reason": "MinimumReplicasAvailable", "message": "there"}
    status = {"status": {"conditions": [condition]}}
    await client.patch(Deployment.Status, "web", status, patch_type=PatchType.MERGE)
    async with asyncio.timeout(30):
        found = await client.wait(Deployment, "web", for_conditions=["Available"])
    assert found.status.conditions[0].reason == "MinimumReplicasAvailable"
    await client.close()
