"""kr8s, unmodified: the client that feels like kubectl."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.interop.samples import config_map, deployment, pod

pytest.importorskip("kr8s", reason="make interop installs it")

import kr8s.asyncio  # may be missing
from kr8s.asyncio.objects import ConfigMap, Deployment, Pod

# It says so of every server newer than itself, and goes on.
pytestmark = pytest.mark.filterwarnings("ignore:Kubernetes version .* is not supported:UserWarning")


@pytest.fixture
async def api(kubeconfig: Path, namespace: str) -> AsyncIterator[kr8s.asyncio.Api]:
    api = await kr8s.asyncio.api(kubeconfig=str(kubeconfig), namespace=namespace)
    yield api
    # It has no public way to close its connections, and an open socket fails a test here.
    await api._session.aclose()


async def test_version_and_resources(api: kr8s.asyncio.Api) -> None:
    assert (await api.version())["minor"] == "37"
    assert "deployments" in {each["name"] for each in await api.api_resources()}
    assert (await api.whoami()) == "hardpoint-admin"


async def test_objects_come_and_go(api: kr8s.asyncio.Api) -> None:
    made = await ConfigMap(config_map("motd", a="1"), api=api)
    await made.create()
    await made.patch({"data": {"b": "2"}})
    assert dict(made.data) == {"a": "1", "b": "2"}
    await made.label({"tier": "front"})
    assert [each.name async for each in api.get("configmaps", label_selector="tier=front")] == ["motd"]
    await made.delete()
    assert not await made.exists()


async def test_scale(api: kr8s.asyncio.Api) -> None:
    made = await Deployment(deployment("web", replicas=0), api=api)
    await made.create()
    await made.patch({"spec": {"replicas": 2}})
    assert made.replicas == 2
    with pytest.raises(kr8s.NotFoundError):
        await Deployment.get("nobody", api=api, timeout=0.1)


async def test_wait_for_a_condition(api: kr8s.asyncio.Api) -> None:
    made = await Pod(pod("web"), api=api)
    await made.create()
    ready = {"status": {"conditions": [{"type": "Ready", "status": "True"}], "phase": "Running"}}

    async with asyncio.timeout(30), asyncio.TaskGroup() as tasks:
        waiting = tasks.create_task(made.wait("condition=Ready"))
        await (await Pod.get("web", api=api)).patch(ready, subresource="status")
        await waiting


async def test_watch(api: kr8s.asyncio.Api) -> None:
    made = await ConfigMap(config_map("motd", labels={"seen": "yes"}), api=api)
    await made.create()
    async with asyncio.timeout(30):
        async for event, found in api.watch("configmaps", label_selector="seen=yes"):
            assert found.name == "motd"
            if event == "DELETED":
                break
            await made.delete()
