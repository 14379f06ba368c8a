"""The examples run as their first lines say."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from hardpoint.client import Client
from hardpoint.cluster import Cluster, Options, fresh_cluster
from hardpoint.sdk.checking import Access, check
from hardpoint.sdk.trials import Given

EXAMPLES = Path(__file__).parents[1] / "examples"


@asynccontextmanager
async def running(name: str, **environ: str) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, EXAMPLES / name, stdout=asyncio.subprocess.PIPE, env={**os.environ, **environ}
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.terminate()
        await process.communicate()


async def test_hello() -> None:
    async with running("01_hello.py") as process:
        said, _ = await process.communicate()
    assert process.returncode == 0
    assert said.startswith(b"hello from https://127.0.0.1:")


async def test_watch(tmp_path: Path) -> None:
    kubeconfig = tmp_path / "kubeconfig"
    options = Options(data_dir=tmp_path / "data", port=0, store="memory", kubeconfig=kubeconfig)
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}}
    pod["spec"] = {"containers": [{"name": "c", "image": "nginx"}]}  # type: ignore[assignment] # JSON
    async with Cluster(options).running(), running("02_watch.py", KUBECONFIG=str(kubeconfig)) as process:
        assert process.stdout is not None
        assert await process.stdout.readline() == b"SYNCED \n"
        async with Client.from_kubeconfig(kubeconfig) as client:
            await client.create(pod)
        assert await process.stdout.readline() == b"ADDED web\n"


@pytest.mark.parametrize(
    ("name", "seam"),
    [
        ("03_authenticator.py", "authentication"),
        ("03_authenticator.py", "authorization"),
        ("04_audit_sink.py", "audit"),
        ("05_credential.py", "credential"),
        ("06_resource.py", "crd"),
    ],
)
async def test_an_extension_keeps_the_promises_of_its_seam(name: str, seam: str) -> None:
    found = [finding async for finding in check(seam, str(EXAMPLES / name), (), Access(), Given(fresh_cluster))]
    assert [finding for finding in found if finding.outcome == "FAIL"] == []
    assert len(found) > 5
