"""What controllers need beside reconciling, with real counterparts: client-go's leader election, kubectl's describe.

All of it on our server and on the real one.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from hardpoint.client.client import Client
from hardpoint.runtime.election import LeaderElection
from hardpoint.runtime.electionlease import LEASES
from hardpoint.runtime.recorder import EventRecorder
from hardpoint.runtime.sharding import Shards
from tests.interop.conftest import built
from tests.interop.kube_apiserver import running_kube_apiserver
from tests.interop.kubectl import Kubectl
from tests.interop.samples import config_map

pytestmark = pytest.mark.interop

SECONDS = (3, 2.0, 0.3)
"""The times of our candidates, those of the Go program too."""


@pytest.fixture(scope="module", params=["ours", "real"])
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """How to reach either of them."""
    if request.param == "ours":
        yield request.getfixturevalue("kubeconfig")
        return
    with running_kube_apiserver(built("kube-apiserver"), tmp_path_factory.mktemp("real")) as kubeconfig:
        yield kubeconfig


class Candidate:
    """The Go program."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    async def hear(self, event: str, identity: str) -> None:
        """Wait until it says so."""
        assert self._process.stdout is not None
        async with asyncio.timeout(20):
            while line := await self._process.stdout.readline():
                if json.loads(line) == {"event": event, "identity": identity}:
                    return
        pytest.fail("the program ended")

    async def step_down(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        await self._process.wait()

    def kill(self) -> None:
        self._process.kill()


@asynccontextmanager
async def candidate(kubeconfig: Path, lease: str) -> AsyncIterator[Candidate]:
    command = [built("election"), str(kubeconfig), "default", lease, "go"]
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe, stderr=asyncio.subprocess.DEVNULL)
    try:
        yield Candidate(process)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def test_they_take_turns(server: Path) -> None:
    async with Client.from_kubeconfig(server) as client, candidate(server, "turns") as theirs:
        await theirs.hear("leading", "go")
        written = await client.get(LEASES, "turns", namespace="default")
        ours = LeaderElection(client, "turns", "default", "py", *SECONDS)
        waiting = asyncio.create_task(_lead_once(ours, client))
        done, _ = await asyncio.wait([waiting], timeout=4)
        assert not done, "as long as client-go renews, nobody else leads"
        assert ours.leader == "go"
        await theirs.step_down()
        lease = await waiting
        assert _form(lease["spec"]) == _form(written["spec"])
        assert (lease["spec"]["holderIdentity"], lease["spec"]["leaseTransitions"]) == ("py", 1)
    async with Client.from_kubeconfig(server) as client:
        given_back = await client.get(LEASES, "turns", namespace="default")
        assert (given_back["spec"]["holderIdentity"], given_back["spec"]["leaseDurationSeconds"]) == ("", 1)


def _form(spec: dict[str, object]) -> dict[str, str]:
    """The fields and how they are written, whatever they say."""
    return {key: re.sub(r"[0-9]", "9", str(value)) for key, value in spec.items() if key != "holderIdentity"}


async def _lead_once(election: LeaderElection, client: Client) -> dict[str, dict[str, object]]:
    async with election.leading():
        return await client.get(LEASES, "turns", namespace="default")


async def test_client_go_waits_for_us_and_comes_after_us(server: Path) -> None:
    async with Client.from_kubeconfig(server) as client:
        async with (
            LeaderElection(client, "ours-first", "default", "py", *SECONDS).leading(),
            candidate(server, "ours-first") as theirs,
        ):
            await theirs.hear("leader", "py")
            # It would not be quiet for long if it did not believe what we write.
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(4):
                    await theirs.hear("leading", "go")
        async with candidate(server, "ours-first") as theirs:
            await theirs.hear("leading", "go")


async def test_we_take_over_from_one_that_was_killed(server: Path) -> None:
    async with Client.from_kubeconfig(server) as client, candidate(server, "killed") as theirs:
        await theirs.hear("leading", "go")
        theirs.kill()
        async with (
            asyncio.timeout(10),
            LeaderElection(client, "killed", "default", "py", *SECONDS).leading(),
        ):
            lease = await client.get(LEASES, "killed", namespace="default")
    assert lease["spec"]["holderIdentity"] == "py"


async def test_replicas_share_a_real_server(server: Path) -> None:
    settled = asyncio.Event()
    shards: list[Shards] = []

    def changed(_: object) -> None:
        if sorted(len(each.owned) for each in shards) == [4, 4]:
            settled.set()

    async with Client.from_kubeconfig(server) as client:
        shards += [Shards(client, "shared", "default", name, 8, *SECONDS, on_gain=changed) for name in ("a", "b")]
        async with asyncio.timeout(20), shards[0].running(), shards[1].running():
            await settled.wait()
        leases = await client.list(LEASES, namespace="default", label_selector="hardpoint/sharded=shared")
    assert {lease["spec"]["holderIdentity"] for lease in leases["items"]} == {""}


async def test_kubectl_describes_events(server: Path, tmp_path: Path) -> None:
    kubectl = Kubectl(built("kubectl"), server, tmp_path)
    kubectl.create(config_map("told"))
    async with Client.from_kubeconfig(server) as client:
        about = await client.get("configmaps", "told")
        wide = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "told"}, "value": 1}
        wide = await client.create(wide)
        async with EventRecorder(client, "crontabs", "crontabs-0").running() as recorder:
            for _ in range(3):
                recorder.event(about, "Normal", "Started", "job nightly started")
            recorder.event(about, "Warning", "Failed", "no room for job nightly", action="Schedule")
            recorder.event(wide, "Normal", "Seen", "a thing of the cluster")
    said = kubectl("describe", "configmap", "told").out
    assert re.search(r"Normal +Started +\S+ \(x3 over \S+\) +crontabs +job nightly started", said), said
    assert re.search(r"Warning +Failed +\S+ +crontabs +no room for job nightly", said), said
    assert re.search(r"Normal +Seen .* a thing of the cluster", kubectl("describe", "priorityclass", "told").out)
    listed = kubectl("events", "--for", "configmap/told").out
    assert "job nightly started" in listed
