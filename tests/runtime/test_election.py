"""Leader election: never two, always one again, and a Lease as client-go writes it."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardpoint.client.client import Client
from hardpoint.machinery.errors import ConfigError
from hardpoint.machinery.messages import Request, Response, User
from hardpoint.runtime.election import LeaderElection, LeadershipLost
from hardpoint.runtime.electionlease import LEASES, new_identity
from tests.apiserver.asking import ADMIN, Api
from tests.runtime.simulation import LeaseServer, Machine, simulate, until

Json = dict[str, Any]
FOREVER = 1e6


class Replica:
    """A process on a machine that leads whenever it may; it can crash and be started again under another name."""

    def __init__(self, machine: Machine, others: list[Replica]) -> None:
        self.machine = machine
        self.is_inside = False
        self.is_second = False
        self._others = others
        self._starts = 0
        self.start()

    def start(self) -> None:
        self._starts += 1
        identity = f"{self.machine.name}-{self._starts}"
        self.election = LeaderElection(
            self.machine.client,
            "lock",
            "default",
            identity,
            on_change=self._hear,
            clock=self.machine,
            chance=self.machine.random.random,
            retry_seconds=0.5,
        )
        self.task = asyncio.create_task(self._run(self.election))

    async def _run(self, election: LeaderElection) -> None:
        while True:
            try:
                async with election.leading():
                    self.is_inside = True
                    try:
                        await asyncio.sleep(FOREVER)
                    finally:
                        self.is_inside = False
            except LeadershipLost:
                continue

    def _hear(self, leads: bool) -> None:
        if leads and [other for other in self._others if other is not self and other.election.is_leading]:
            self.is_second = True

    async def stop(self) -> None:
        self.task.cancel()
        await asyncio.wait([self.task])

    async def do(self, deed: str) -> None:
        match deed:
            case "pause":
                self.machine.pause()
            case "resume":
                self.machine.resume()
            case "cut":
                self.machine.is_cut = True
            case "lossy":
                self.machine.loss = 0.3
            case "slow":
                self.machine.delay_seconds_max = 7.0
            case "restart":
                self.task.cancel()
                self.start()

    def heal(self) -> None:
        self.machine.resume()
        self.machine.is_cut = False
        self.machine.loss = 0.0
        self.machine.delay_seconds_max = 0.05


DEEDS = st.tuples(
    st.integers(0, 2),
    st.sampled_from(["pause", "resume", "cut", "heal", "lossy", "slow", "restart"]),
    st.floats(0.1, 25.0),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(DEEDS, max_size=15), st.integers(0, 2**32), st.lists(st.floats(0.9, 1.1), min_size=3, max_size=3))
def test_there_are_never_two_leaders(deeds: list[tuple[int, str, float]], seed: int, rates: list[float]) -> None:
    simulate(_election(deeds, Random(seed), rates))


async def _election(deeds: list[tuple[int, str, float]], random: Random, rates: list[float]) -> None:
    server = LeaseServer()
    replicas: list[Replica] = []
    for number, rate in enumerate(rates):
        machine = Machine(f"machine-{number}", server, random, rate=rate, offset=random.uniform(0, 1e5))
        replicas.append(Replica(machine, replicas))
    watching = asyncio.create_task(_never_two(replicas))
    for which, deed, seconds in deeds:
        if deed == "heal":
            replicas[which].heal()
        else:
            await replicas[which].do(deed)
        await asyncio.sleep(seconds)
    for replica in replicas:
        replica.heal()
    await until(lambda: any(replica.is_inside for replica in replicas), seconds=15 / 0.9 + 2 * 2.2 / 0.9 + 10)
    await asyncio.sleep(30)
    assert sum(replica.is_inside for replica in replicas) == 1, "a healthy leader stays"
    assert not watching.done(), watching.exception()
    assert not any(replica.is_second for replica in replicas)
    watching.cancel()
    for replica in replicas:
        await replica.stop()


async def _never_two(replicas: list[Replica]) -> None:
    while True:
        await asyncio.sleep(0.137)
        leading = [replica.machine.name for replica in replicas if replica.election.is_leading]
        assert len(leading) <= 1, leading
        # A process that stands still does nothing; one that moves has noticed.
        inside = [replica.machine.name for replica in replicas if replica.is_inside and not replica.machine.is_paused]
        assert len(inside) <= 1, inside


def test_the_next_one_takes_over_when_the_lease_is_over_and_not_before() -> None:
    async def world() -> None:
        server = LeaseServer()
        replicas: list[Replica] = []
        first = Replica(Machine("a", server, Random(1)), replicas)
        replicas.append(first)
        await until(lambda: first.is_inside, seconds=1)
        second = Replica(Machine("b", server, Random(2)), replicas)
        replicas.append(second)
        await asyncio.sleep(20)
        loop = asyncio.get_running_loop()
        last = loop.time()
        first.machine.pause()
        await until(lambda: second.is_inside, seconds=15 + 2 + 2 * 2.2 + 1)
        assert loop.time() - last > 15 - 2, "nobody waits less than the lease"
        first.machine.resume()
        await asyncio.sleep(0.1)
        assert (first.is_inside, second.is_inside) == (False, True)
        assert server.leases["lock"]["spec"]["leaseTransitions"] == 1
        for replica in replicas:
            await replica.stop()

    simulate(world())


def test_who_leaves_lets_the_next_one_in_at_once() -> None:
    async def world() -> None:
        server = LeaseServer()
        replicas: list[Replica] = []
        for name in "ab":
            replicas.append(Replica(Machine(name, server, Random(name)), replicas))
            await asyncio.sleep(1)
        await replicas[0].stop()
        spec = server.leases["lock"]["spec"]
        assert (spec["holderIdentity"], spec["leaseDurationSeconds"]) == ("", 1)
        await until(lambda: replicas[1].is_inside, seconds=2 * 2.2 + 1)
        await replicas[1].stop()

    simulate(world())


def test_a_body_is_cancelled_while_the_lease_is_still_its_own() -> None:
    async def world() -> None:
        machine = Machine("a", LeaseServer(), Random(1))
        election = LeaderElection(machine.client, "lock", "default", "a", clock=machine)
        loop = asyncio.get_running_loop()

        async def lead() -> None:
            async with election.leading():
                machine.is_cut = True
                await asyncio.sleep(FOREVER)

        with pytest.raises(LeadershipLost, match=r"could not be renewed within 10 s"):
            await lead()
        assert loop.time() < 10 + 0.1
        assert not election.is_leading

    simulate(world())


def test_work_that_does_not_stop_is_told_of(caplog: pytest.LogCaptureFixture) -> None:
    async def world(stubborn_seconds: float) -> None:
        machine = Machine("a", LeaseServer(), Random(1))
        async with LeaderElection(machine.client, "lock", "default", "a", clock=machine).leading():
            machine.is_cut = True
            try:
                await asyncio.sleep(FOREVER)
            finally:
                await asyncio.sleep(stubborn_seconds)

    for seconds, is_told in ((4.9, False), (5.1, True)):
        with pytest.raises(LeadershipLost):
            simulate(world(seconds))
        assert ("work goes on though another may lead" in caplog.text) is is_told


def test_a_lease_that_somebody_took_ends_leadership_at_once() -> None:
    async def world() -> None:
        server = LeaseServer()
        machine = Machine("a", server, Random(1))
        election = LeaderElection(machine.client, "lock", "default", "a", clock=machine)

        async def lead() -> None:
            async with election.leading():
                lease = server.leases["lock"]
                server._stored({**lease, "spec": {**lease["spec"], "holderIdentity": "b"}}, lease)
                async with asyncio.timeout(2.5):
                    await asyncio.sleep(FOREVER)

        with pytest.raises(LeadershipLost, match="is held by b"):
            await lead()
        assert server.leases["lock"]["spec"]["holderIdentity"] == "b", "what is not ours is not released"

    simulate(world())


def test_an_answer_that_comes_too_late_renews_nothing() -> None:
    """A process that stood still finds the answer to its renewal before it finds that its time is over."""

    class Slept(LeaseServer):
        async def handle(self, request: Request) -> Response:
            if request.method == "PUT":
                machine.jump(3)
            return await super().handle(request)

    machine: Machine

    async def world() -> None:
        nonlocal machine
        machine = Machine("a", Slept(), Random(1))
        async with LeaderElection(machine.client, "lock", "default", "a", clock=machine).leading():
            machine.is_cut = True
            await asyncio.sleep(7.9)
            machine.is_cut = False
            await asyncio.sleep(3)

    with pytest.raises(LeadershipLost):
        simulate(world())


def test_errors_of_the_body_come_out_as_they_are() -> None:
    async def world() -> None:
        machine = Machine("a", LeaseServer(), Random(1))
        election = LeaderElection(machine.client, "lock", "default", "a", clock=machine)
        for error in (TimeoutError("mine"), KeyError("mine")):
            with pytest.raises(type(error), match="mine"):
                async with election.leading():
                    raise error
            assert election.leader == ""

    simulate(world())


async def test_the_lease_is_as_client_go_writes_it(api: Api) -> None:
    client = Client.in_process(api.server.handle, ADMIN)
    changes: list[bool] = []
    election = LeaderElection(client, "lock", "default", "me", labels={"app": "x"}, on_change=changes.append)
    async with election.leading():
        assert election.is_leading
        lease = await client.get(LEASES, "lock", namespace="default")
        assert list(lease["spec"]) == [
            "holderIdentity",
            "leaseDurationSeconds",
            "acquireTime",
            "renewTime",
            "leaseTransitions",
        ]
        assert (lease["spec"]["holderIdentity"], lease["spec"]["leaseTransitions"]) == ("me", 0)
        assert lease["metadata"]["labels"] == {"app": "x"}
    lease = await client.get(LEASES, "lock", namespace="default")
    assert (lease["spec"]["holderIdentity"], lease["spec"]["leaseDurationSeconds"]) == ("", 1)
    async with election.leading():
        lease = await client.get(LEASES, "lock", namespace="default")
        assert lease["spec"]["leaseTransitions"] == 1
    assert changes == [False, True, False, False, True, False]


def test_what_others_keep_in_a_lease_stays() -> None:
    async def world() -> None:
        server = LeaseServer()
        theirs = {"strategy": "OldestEmulationVersion", "preferredHolder": "somebody"}
        server._stored({"metadata": {"name": "lock", "labels": {"theirs": "yes"}}, "spec": theirs}, None)
        machine = Machine("a", server, Random(1))
        async with LeaderElection(
            machine.client, "lock", "default", "a", labels={"ours": "a"}, clock=machine
        ).leading():
            lease = server.leases["lock"]
            assert theirs.items() <= lease["spec"].items()
            assert lease["metadata"]["labels"] == {"theirs": "yes", "ours": "a"}

    simulate(world())


async def test_the_guides_program_leads(
    api: Api, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    guide = (Path(__file__).parents[2] / "docs/guides/operating-controllers.md").read_text()
    program = guide.partition("```python\n")[2].partition("asyncio.run(main())")[0]
    monkeypatch.setattr(Client, "from_kubeconfig", lambda: Client.in_process(api.server.handle, ADMIN))
    module: Json = {}
    exec(program, module)
    await module["main"]()
    assert capsys.readouterr().out == "nobody else does this now\n"
    told = await Client.in_process(api.server.handle, ADMIN).list("events.k8s.io/v1 Event", namespace="default")
    notes = [event["note"].partition(" ")[2] for event in told["items"]]
    assert sorted(notes) == ["became leader", "stopped leading"]


class Heard(logging.Handler):
    """Waits for words in the log."""

    def __init__(self, words: str) -> None:
        super().__init__()
        self._words = words
        self.once = asyncio.Event()

    def emit(self, record: logging.LogRecord) -> None:
        if record.getMessage() == self._words:
            self.once.set()


async def test_who_may_not_write_leases_waits_and_says_why(api: Api) -> None:
    heard = Heard("lease not written")
    logger = logging.getLogger("hardpoint.runtime.election")
    logger.addHandler(heard)
    election = LeaderElection(Client.in_process(api.server.handle, User("nobody")), "lock", "default", "me")
    waiting = asyncio.create_task(election.leading().__aenter__())
    await heard.once.wait()
    assert not election.is_leading
    waiting.cancel()
    await asyncio.wait([waiting])
    logger.removeHandler(heard)


@pytest.mark.parametrize(
    ("identity", "seconds", "message"),
    [
        ("", (15, 10, 2), "identity"),
        ("me", (10, 10, 2), r"lease_seconds \(10\) must be greater"),
        ("me", (15, 2, 2), r"renew_seconds \(2\) must be greater than 1.2 times"),
        ("me", (15, 10, 0), "greater than 0"),
    ],
)
def test_times_that_cannot_work_are_refused(identity: str, seconds: tuple[int, float, float], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        LeaderElection(None, "lock", "default", identity, *seconds)  # type: ignore[arg-type] # nothing is asked


def test_identities_differ() -> None:
    assert new_identity() != new_identity()
