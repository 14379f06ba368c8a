"""Our informers over the real kube-apiserver and over ours: what is there, what happens, what was written."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hardpoint.client.client import Client
from hardpoint.client.picture import State
from hardpoint.runtime import Change, Informer, Informers, Key, by_label
from tests.interop.conftest import built, running_cluster
from tests.interop.kube_apiserver import running_kube_apiserver

pytestmark = [pytest.mark.interop, pytest.mark.timeout(600)]

Json = dict[str, Any]

COUNT = 1200


@pytest.fixture(scope="module", params=["kube-apiserver", "hardpoint"])
def kubeconfig(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("informers")
    if request.param == "hardpoint":
        with running_cluster(folder, "--components", "apiserver") as config:
            yield config
    else:
        with running_kube_apiserver(built("kube-apiserver"), folder) as config:
            yield config


def config_map(name: str, namespace: str, tier: str) -> Json:
    metadata = {"name": name, "namespace": namespace, "labels": {"tier": tier}}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"x": "1"}}


async def fill(client: Client, namespace: str) -> None:
    await client.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
    for start in range(0, COUNT, 100):
        made = (config_map(f"n{number}", namespace, f"t{number % 3}") for number in range(start, start + 100))
        await asyncio.gather(*map(client.create, made))


@pytest.mark.parametrize("way", [State.STREAMING, State.LISTING], ids=lambda way: way.name.lower())
async def test_following_thousands(kubeconfig: Path, way: State) -> None:
    namespace = f"many-{way.name.lower()}"
    async with Client.from_kubeconfig(kubeconfig) as client, asyncio.timeout(40):
        await fill(client, namespace)
        informers, told = Informers(client), list[Change]()
        informer = informers.get("v1 ConfigMap", namespace=namespace)
        informer._picture.state = way
        informer.add_index("tier", by_label("tier"))
        informer.subscribe(told.append)
        async with informers.running():
            await informer.wait_until_synced()
            assert (len(informer), len(told)) == (COUNT, COUNT)
            assert len(informer.by_index("tier", "t1")) == COUNT / 3
            assert informer._picture.state is State.WATCHING
            await live(client, informer, namespace)
        listed = await client.list("configmaps", namespace=namespace)
        truth = {(each["metadata"]["name"], each["metadata"]["resourceVersion"]) for each in listed["items"]}
        known = informer.read_all()
        assert {(each["metadata"]["name"], each["metadata"]["resourceVersion"]) for each in known} == truth
        assert not any("managedFields" in each["metadata"] for each in known)
        assert [(change.type, change.key.name) for change in told[COUNT:]] == [
            ("MODIFIED", "n0"),
            ("DELETED", "n1"),
            ("ADDED", "new"),
        ]


async def live(client: Client, informer: Informer, namespace: str) -> None:
    """One change of each kind, each of them written and then seen."""
    patched = await client.patch("configmaps", "n0", {"data": {"x": "2"}}, namespace=namespace)
    informer.note_written(patched)
    found = informer.read(Key(namespace, "n0"))
    assert found is not None
    assert found["data"] == {"x": "2"}
    await client.delete("configmaps", "n1", namespace=namespace)
    created = await client.create(config_map("new", namespace, "t0"))
    await informer.wait_until_seen(created["metadata"]["resourceVersion"])
    assert informer.read(Key(namespace, "n1")) is None
