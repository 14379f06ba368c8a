"""The real kubectl deletes, waits, and finds what it deleted gone: everything over sockets, with a store on disk."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import yaml

from hardpoint.client.client import Client
from hardpoint.cluster import Cluster, Options
from tests.controllers.world import ADMIN, Json, reference, template

PATIENCE_SECONDS = 30


class Kubectl:
    """kubectl, told of one cluster and of nobody's files."""

    def __init__(self, program: str, cluster: Cluster, home: Path) -> None:
        self._words = [program, f"--kubeconfig={cluster.state.kubeconfig}", f"--cache-dir={home / 'cache'}"]
        self._environment = {"PATH": os.environ["PATH"], "HOME": str(home)}
        self.client = Client.in_process(cluster.handle, ADMIN)

    async def __call__(self, *arguments: str, stdin: str = "") -> str:
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            *self._words, *arguments, stdin=pipe, stdout=pipe, stderr=pipe, env=self._environment
        )
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                out, err = await process.communicate(stdin.encode())
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        assert process.returncode == 0, err.decode()
        return out.decode()

    async def names(self, resources: str) -> set[str]:
        return set((await self("get", resources, "-o", "name")).split())

    async def apply(self, obj: Json) -> Json:
        made: Json = yaml.safe_load(await self("apply", "-o", "yaml", "-f", "-", stdin=yaml.safe_dump(obj)))
        return made


@pytest.fixture
async def kubectl(tmp_path: Path) -> AsyncIterator[Kubectl]:
    program = shutil.which("kubectl")
    if program is None:
        pytest.skip("there is no kubectl on PATH")
    options = Options(data_dir=tmp_path / "data", port=0, kubeconfig=tmp_path / "config")
    async with Cluster(options).running() as cluster:
        yield Kubectl(program, cluster, tmp_path)


async def owned_pair(kubectl: Kubectl) -> None:
    deployment: Json = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": template()}
    made = await kubectl.apply(deployment)
    metadata = {"name": "web-1", "ownerReferences": [reference(made, blocks=True)]}
    await kubectl.apply({"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": metadata, "spec": template()})


@pytest.mark.parametrize(
    ("cascade", "left"), [("foreground", set()), ("background", set()), ("orphan", {"replicaset.apps/web-1"})]
)
async def test_every_cascade_ends(kubectl: Kubectl, cascade: str, left: set[str]) -> None:
    await owned_pair(kubectl)
    await kubectl("delete", "deployment", "web", f"--cascade={cascade}", "--wait")
    if not left:
        await kubectl("wait", "--for=delete", "replicaset/web-1", f"--timeout={PATIENCE_SECONDS}s")
    assert await kubectl.names("deployments,replicasets") == left


async def test_a_namespace_ends(kubectl: Kubectl) -> None:
    await kubectl("create", "namespace", "team")
    await kubectl("create", "configmap", "settings", "-n", "team")
    await kubectl("delete", "namespace", "team", "--wait")
    assert "namespace/team" not in await kubectl.names("namespaces")
