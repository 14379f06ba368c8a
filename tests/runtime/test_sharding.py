"""Sharding: never two owners of a key, all keys owned again soon, everybody the same share."""

from __future__ import annotations

import asyncio
from collections import Counter
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardpoint.client.client import Client
from hardpoint.runtime.sharding import ShardLost, Shards
from hardpoint.runtime.shardingview import shard_of
from tests.apiserver.asking import ADMIN, Api
from tests.runtime.simulation import LeaseServer, Machine, simulate, until

SHARDS = 12
KEYS = tuple(f"shop/tab-{number}" for number in range(40))
LEASE, RENEW, RETRY = 15, 10.0, 1.0


class Replica:
    """A process that works on all keys it owns, a while on each; it can die, and come back under another name."""

    def __init__(self, machine: Machine, count: int = SHARDS) -> None:
        self.machine = machine
        self.count = count
        self.working: Counter[str] = Counter()
        self._starts = 0
        self.start()

    def start(self) -> None:
        self._starts += 1
        identity = f"{self.machine.name}-{self._starts}"
        where = (self.machine.client, "app", "default", identity)
        self.shards = Shards(*where, self.count, LEASE, RENEW, RETRY, clock=self.machine)
        self.task = asyncio.create_task(self._run(self.shards))

    async def _run(self, shards: Shards) -> None:
        async with shards.running(), asyncio.TaskGroup() as tasks:
            for key in KEYS[::5]:
                tasks.create_task(self._work(shards, key))

    async def _work(self, shards: Shards, key: str) -> None:
        while True:
            await self.machine.sleep(self.machine.random.uniform(0.1, 2.0))
            try:
                async with shards.holding(key):
                    self.working[key] += 1
                    try:
                        await self.machine.sleep(self.machine.random.uniform(0.1, 3.0))
                    finally:
                        self.working[key] -= 1
            except ShardLost:
                continue

    async def stop(self) -> None:
        self.task.cancel()
        await asyncio.wait([self.task])

    def heal(self) -> None:
        self.machine.resume()
        self.machine.is_cut = False
        self.machine.loss = 0.0
        self.machine.delay_seconds_max = 0.05


class World:
    """Some replicas, and somebody who watches that no two of them own a key."""

    def __init__(self, random: Random, rates: list[float]) -> None:
        self.server = LeaseServer()
        self.replicas = [
            Replica(Machine(f"machine-{number}", self.server, random, rate=rate, offset=random.uniform(0, 1e5)))
            for number, rate in enumerate(rates)
        ]
        self.watching = asyncio.create_task(self._watch())

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(0.0731)
            owners = Counter(shard for replica in self.replicas for shard in replica.shards.owned)
            assert not [shard for shard, count in owners.items() if count > 1]
            moving = [replica for replica in self.replicas if not replica.machine.is_paused]
            workers = sum((replica.working for replica in moving), Counter())
            assert not [key for key, count in workers.items() if count > 1]

    def is_settled(self, count: int) -> bool:
        """Whether all is owned, and evenly, by so many."""
        shares = [len(replica.shards.owned) for replica in self.replicas if replica.shards.owned]
        return sum(shares) == SHARDS and len(shares) == count and max(shares) - min(shares) <= 1

    async def end(self) -> None:
        assert not self.watching.done(), self.watching.exception()
        self.watching.cancel()
        for replica in self.replicas:
            replica.heal()
            await replica.stop()


DEEDS = st.tuples(
    st.integers(0, 2),
    st.sampled_from(["pause", "resume", "cut", "heal", "lossy", "slow", "restart", "crash"]),
    st.floats(0.1, 25.0),
)


@settings(max_examples=30, deadline=None)
@given(st.lists(DEEDS, max_size=12), st.integers(0, 2**32), st.lists(st.floats(0.9, 1.1), min_size=3, max_size=3))
def test_no_key_ever_has_two_owners(deeds: list[tuple[int, str, float]], seed: int, rates: list[float]) -> None:
    simulate(_shared(deeds, Random(seed), rates))


async def _shared(deeds: list[tuple[int, str, float]], random: Random, rates: list[float]) -> None:
    world = World(random, rates)
    for which, deed, seconds in deeds:
        await _do(world.replicas[which], deed)
        await asyncio.sleep(seconds)
    for replica in world.replicas:
        replica.heal()
    # What was lost by then may take until it expires, and what is under way until it has ended.
    await until(lambda: world.is_settled(3), seconds=2 * LEASE / 0.9 + 10)
    assert all(sum(replica.shards.owns(key) for replica in world.replicas) == 1 for key in KEYS)
    await world.end()


async def _do(replica: Replica, deed: str) -> None:
    machine = replica.machine
    match deed:
        case "pause":
            machine.pause()
        case "resume":
            machine.resume()
        case "cut":
            machine.is_cut = True
        case "heal":
            replica.heal()
        case "lossy":
            machine.loss = 0.3
        case "slow":
            machine.delay_seconds_max = 7.0
        case "restart":
            replica.task.cancel()
            replica.start()
        case "crash":
            machine.is_cut = True
            await replica.stop()
            machine.is_cut = False
            replica.start()


def test_shares_follow_who_comes_and_goes() -> None:
    async def world() -> None:
        there = World(Random(1), [1.0])
        await until(lambda: there.is_settled(1), seconds=1)
        for count in (2, 3):
            there.replicas.append(Replica(Machine(f"late-{count}", there.server, Random(count))))
            # Two looks, and the longest work on a key between them.
            await until(lambda count=count: there.is_settled(count), seconds=2 * RETRY + 3 + 0.5)  # type: ignore[misc]
        leaving = there.replicas.pop()
        await leaving.stop()
        await until(lambda: there.is_settled(2), seconds=RETRY + 0.5)
        await until(lambda: sum("replica" in name for name in there.server.leases) == 2, seconds=5)
        await there.end()

    simulate(world())


def test_the_keys_of_one_who_vanished_are_owned_within_the_lease() -> None:
    async def world() -> None:
        there = World(Random(1), [1.0, 1.0, 1.0])
        await until(lambda: there.is_settled(3), seconds=10)
        there.replicas[0].machine.is_cut = True
        loop = asyncio.get_running_loop()
        vanished = loop.time()
        await until(lambda: there.is_settled(2), seconds=LEASE + RETRY + 0.5)
        assert loop.time() - vanished > RENEW, "not before it must have noticed itself"
        assert not there.replicas[0].shards.owned
        there.replicas[0].machine.is_cut = False
        await until(lambda: there.is_settled(3), seconds=5 * RETRY + 3)
        await there.end()

    simulate(world())


def test_work_is_cancelled_while_the_shard_is_still_ours() -> None:
    async def world() -> None:
        machine = Machine("a", LeaseServer(), Random(1))
        shards = Shards(machine.client, "app", "default", "a", clock=machine)

        async def work() -> None:
            async with shards.holding("key"):
                machine.is_cut = True
                await asyncio.sleep(1e6)

        async with shards.running():
            await until(lambda: shards.owns("key"), seconds=1)
            began = asyncio.get_running_loop().time()
            with pytest.raises(ShardLost, match="no longer"):
                await work()
            assert asyncio.get_running_loop().time() - began <= RENEW
            assert not shards.owns("key")
            with pytest.raises(ShardLost, match="not this replica's"):
                await work()

    simulate(world())


def test_errors_of_the_work_come_out_as_they_are() -> None:
    async def world() -> None:
        machine = Machine("a", LeaseServer(), Random(1))
        shards = Shards(machine.client, "app", "default", "a", clock=machine)
        async with shards.running():
            await until(lambda: shards.owns("key"), seconds=1)
            with pytest.raises(TimeoutError, match="mine"):
                async with shards.holding("key"):
                    raise TimeoutError("mine")

    simulate(world())


def test_those_who_divide_otherwise_wait_for_each_other() -> None:
    async def world() -> None:
        server = LeaseServer()
        old = Replica(Machine("old", server, Random(1)))
        await until(lambda: len(old.shards.owned) == SHARDS, seconds=2)
        new = Replica(Machine("new", server, Random(2)), count=SHARDS + 1)
        await asyncio.sleep(30)
        assert not new.shards.owned
        await old.stop()
        await until(lambda: len(new.shards.owned) == SHARDS + 1, seconds=3)
        await new.stop()

    simulate(world())


def test_a_shard_that_somebody_took_is_dropped() -> None:
    async def world() -> None:
        server = LeaseServer()
        machine = Machine("a", server, Random(1))
        gains: list[frozenset[int]] = []
        shards = Shards(machine.client, "app", "default", "a", 2, on_gain=gains.append, clock=machine)
        async with shards.running():
            await until(lambda: len(shards.owned) == 2, seconds=1)
            lease = server.leases["app-shard-0"]
            server._stored({**lease, "spec": {**lease["spec"], "holderIdentity": "b"}}, lease)
            await until(lambda: shards.owned == {1}, seconds=3)
            await until(lambda: shards.owned == {0, 1}, seconds=20)
        assert gains == [{0, 1}, {0}], "who is told of new keys is told of no others"
        assert {lease["spec"]["holderIdentity"] for lease in server.leases.values()} == {""}

    simulate(world())


def test_it_costs_a_write_and_a_list_each_time_whatever_the_number_of_shards() -> None:
    async def world() -> int:
        server = LeaseServer()
        machine = Machine("a", server, Random(1))
        async with Shards(machine.client, "app", "default", "a", 64, clock=machine).running():
            await asyncio.sleep(10)
            before = server.writes
            await asyncio.sleep(100)
            return server.writes - before

    assert simulate(world()) <= 51


async def test_two_share_the_real_server(api: Api) -> None:
    settled = asyncio.Event()
    shards: list[Shards] = []

    def changed(_: Any) -> None:
        if sorted(len(each.owned) for each in shards) == [2, 2]:
            settled.set()

    for name in "ab":
        client = Client.in_process(api.server.handle, ADMIN)
        shards.append(Shards(client, "app", "default", name, 4, 3, 2.0, 0.05, on_gain=changed))
    async with asyncio.timeout(20), shards[0].running(), shards[1].running():
        await settled.wait()
        assert sum(each.owns("shop/tab") for each in shards) == 1


def test_keys_spread_evenly() -> None:
    spread = Counter(shard_of(f"shop/tab-{number}", 32) for number in range(32_000))
    assert min(spread.values()) > 800
    assert max(spread.values()) < 1200
