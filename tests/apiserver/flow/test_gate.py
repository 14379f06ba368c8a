"""The gate: seats, queues, turns; who is let in, who waits, who is told to come back."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from hardpoint.apiserver import target
from hardpoint.apiserver.flow import gate as gate_module
from hardpoint.apiserver.flow.contract import Overloaded
from hardpoint.apiserver.flow.gate import UNTAKEN_BYTES_MAX, Gate, GateSeat
from hardpoint.machinery.messages import User
from tests.apiserver.flow.test_schemas import ANY_PATH, ANY_RESOURCE

Json = dict[str, Any]
NODES = target.parse("/api/v1/nodes")
ADMIN = User("admin", ("system:masters",))
JANE, JOE = User("jane", ("devs",)), User("joe", ("devs",))


def level(name: str, *, shares: int = 1, queues: int = 16, hand: int = 2, length: int = 3) -> Json:
    response: Json = {"type": "Reject"}
    if queues:
        response = {"type": "Queue", "queuing": {"queues": queues, "handSize": hand, "queueLengthLimit": length}}
    limited = {"nominalConcurrencyShares": shares, "borrowingLimitPercent": 0, "limitResponse": response}
    return {"metadata": {"name": name, "uid": f"{name}-level"}, "spec": {"type": "Limited", "limited": limited}}


def schema(name: str, level: str, group: str, precedence: int = 100) -> Json:
    subjects = [{"kind": "Group", "group": {"name": group}}]
    rules = [{"subjects": subjects, "resourceRules": [ANY_RESOURCE], "nonResourceRules": [ANY_PATH]}]
    return {
        "metadata": {"name": name, "uid": f"{name}-schema"},
        "spec": {
            "matchingPrecedence": precedence,
            "priorityLevelConfiguration": {"name": level},
            "distinguisherMethod": {"type": "ByUser"},
            "rules": rules,
        },
    }


def made(seats: int = 4, **about: Any) -> Gate:
    """A gate with one level for `devs`, which has half of the seats; the other half is the catch-all's."""
    gate = Gate(seats, wait_seconds_max=0.05)
    catch_all = level("catch-all", queues=0)
    gate.configure([schema("devs", "devs", "devs")], [level("devs", **about), catch_all])
    return gate


async def enter(gate: Gate, user: User, verb: str = "get") -> GateSeat:
    return gate.enter(user, verb, NODES) or await gate.wait(user, verb, NODES)


@asynccontextmanager
async def waiting(gate: Gate, *users: User) -> AsyncIterator[list[asyncio.Task[GateSeat]]]:
    """Requests of these users, on their way in; what still waits in the end is given up."""
    tasks = [asyncio.create_task(enter(gate, user)) for user in users]
    await asyncio.sleep(0)
    try:
        yield tasks
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)


async def test_who_finds_a_seat_sits_at_once_and_is_told_its_flow() -> None:
    seat = made().enter(JANE, "get", NODES)
    assert seat is not None
    assert seat.headers == (
        ("X-Kubernetes-Pf-Flowschema-Uid", "devs-schema"),
        ("X-Kubernetes-Pf-Prioritylevel-Uid", "devs-level"),
    )


async def test_who_finds_none_waits_until_somebody_leaves() -> None:
    gate = made()
    seats = [await enter(gate, JANE) for _ in range(2)]
    async with waiting(gate, JANE) as (task,):
        await asyncio.sleep(0.01)
        assert not task.done()
        seats[0].leave()
        assert (await task).is_taken


async def test_a_full_queue_is_a_refusal() -> None:
    gate = made(hand=1, length=3)
    for _ in range(2):
        await enter(gate, JANE)
    async with waiting(gate, *[JANE] * 3):
        with pytest.raises(Overloaded) as full:
            await enter(gate, JANE)
    assert full.value.retry_after_seconds == 1
    assert ("X-Kubernetes-Pf-Flowschema-Uid", "devs-schema") in full.value.headers


async def test_nobody_waits_for_ever() -> None:
    gate = made()
    for _ in range(2):
        await enter(gate, JANE)
    with pytest.raises(Overloaded):
        await enter(gate, JANE)
    (rejected,) = [samples for name, _, _, samples in gate.families() if "rejected" in name]
    assert [dict(labels)["reason"] for labels, _ in rejected] == ["time-out"]


async def test_where_there_are_no_queues_nobody_waits() -> None:
    gate = made()
    stranger = User("stranger", ("system:authenticated",))
    for _ in range(2):
        await enter(gate, stranger)
    with pytest.raises(Overloaded):
        await enter(gate, stranger)


async def test_the_exempt_need_no_seats() -> None:
    gate = made()
    assert all([await enter(gate, ADMIN) for _ in range(100)])


async def test_who_gives_up_leaves_nothing_behind() -> None:
    gate = made()
    seats = [await enter(gate, JANE) for _ in range(2)]
    for _ in range(20):
        async with waiting(gate, JANE, JOE):
            pass
    for seat in seats:
        seat.leave()
    again = [await enter(gate, JANE) for _ in range(2)]
    assert all(seat.is_taken for seat in again)
    (devs,) = [each for each in gate._levels if each.shape.name == "devs"]
    assert (devs.in_use, devs.active) == (2, set())


async def test_who_is_called_and_does_not_come_gives_the_seat_back() -> None:
    gate = made()
    seats = [await enter(gate, JANE) for _ in range(2)]
    task = asyncio.create_task(enter(gate, JOE))
    await asyncio.sleep(0)
    seats[0].leave()
    await asyncio.sleep(0)  # The turn: it is called, and has not run yet.
    task.cancel()
    await asyncio.wait([task])
    assert (await enter(gate, JANE)).is_taken


async def test_one_who_floods_does_not_keep_the_other_waiting() -> None:
    gate = made(seats=2, length=1000)
    order: list[str] = []

    async def ask(user: User) -> None:
        seat = await enter(gate, user)
        order.append(user.name)
        await asyncio.sleep(0)
        seat.leave()

    gate._wait_seconds_max = 30.0
    flood = [asyncio.create_task(ask(JANE)) for _ in range(200)]
    await asyncio.sleep(0)
    await ask(JOE)
    assert order.index("joe") < 40
    await asyncio.gather(*flood)


async def test_in_one_turn_only_so_much_is_begun() -> None:
    """Requests that never wait for anything: seats do not bound them, turns do."""
    gate = made(seats=1000, length=1000)
    gate._wait_seconds_max = 30.0
    order: list[str] = []

    async def ask(user: User) -> None:
        seat = await enter(gate, user)
        order.append(user.name)
        seat.leave()

    flood = [asyncio.create_task(ask(JANE)) for _ in range(1000)]
    polite = asyncio.create_task(ask(JOE))
    await polite
    # All of the flood was there first; but for the one turn it began with, the polite one was next.
    assert order.index("joe") < 150
    await asyncio.gather(*flood)
    assert Counter(order) == {"jane": 1000, "joe": 1}


async def test_the_exempt_take_turns_too_user_by_user() -> None:
    gate = made()
    order: list[str] = []

    async def ask(user: User) -> None:
        seat = await enter(gate, user)
        order.append(user.name)
        seat.leave()

    flood = [asyncio.create_task(ask(ADMIN)) for _ in range(1000)]
    polite = asyncio.create_task(ask(User("controller", ("system:masters",))))
    await polite
    assert order.index("controller") < 150
    await asyncio.gather(*flood)


async def test_levels_get_the_processor_by_their_shares(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate_module, "perf_counter", lambda: 0.0)
    gate = Gate(10_000, wait_seconds_max=30.0)
    gate.configure(
        [schema("many", "many", "many"), schema("few", "few", "few")],
        [level("many", shares=30, length=1000), level("few", shares=10, length=1000)],
    )
    order: list[str] = []

    async def ask(name: str) -> None:
        seat = await enter(gate, User(name, (name,)))
        order.append(name)
        seat.leave()

    await asyncio.gather(*(ask(name) for name in ["few"] * 400 + ["many"] * 400))
    contended = order[100:300]
    assert 2.0 < contended.count("many") / contended.count("few") < 4.5


async def test_a_large_list_takes_several_seats() -> None:
    gate = made(seats=40)
    (await enter(gate, JANE, "list")).leave(10)
    assert (await enter(gate, JANE, "list")).width == 1
    for _ in range(30):
        (await enter(gate, JANE, "list")).leave(5_000_000)
    assert (await enter(gate, JANE, "list")).width == 10
    assert (await enter(gate, JANE, "get")).width == 1


async def test_a_list_nobody_has_seen_may_be_large() -> None:
    assert (await enter(made(seats=40), JANE, "list")).width == 10


async def test_who_does_not_take_their_answers_gets_no_more_large_ones() -> None:
    gate = made(seats=40)
    taken = (await enter(gate, JANE, "list")).leave_when_taken(UNTAKEN_BYTES_MAX + 1)
    with pytest.raises(Overloaded):
        await enter(gate, JANE, "list")
    (await enter(gate, JANE, "get")).leave()
    assert await enter(gate, JOE, "list")
    taken()
    taken()
    assert await enter(gate, JANE, "list")


async def test_what_changes_counts_at_once() -> None:
    gate = made()
    await enter(gate, JANE)
    gate.configure([schema("all", "exempt", "devs")], [])
    seat = gate.enter(JANE, "get", NODES)
    assert seat is not None
    assert dict(seat.headers)["X-Kubernetes-Pf-Flowschema-Uid"] == "all-schema"


async def test_a_schema_without_its_level_is_passed_over() -> None:
    gate = made()
    gate.configure([schema("lost", "gone", "devs", 1), schema("devs", "devs", "devs")], [level("devs")])
    seat = gate.enter(JANE, "get", NODES)
    assert seat is not None
    assert dict(seat.headers)["X-Kubernetes-Pf-Flowschema-Uid"] == "devs-schema"


async def test_who_waits_in_a_level_that_goes_is_still_served() -> None:
    gate = made()
    seats = [await enter(gate, JANE) for _ in range(2)]
    async with waiting(gate, JANE) as (task,):
        gate.configure([], [])
        for seat in seats:
            seat.leave()
        assert (await task).is_taken


async def test_what_is_counted() -> None:
    gate = made(hand=1, length=1)
    for _ in range(2):
        await enter(gate, JANE)
    async with waiting(gate, JANE):
        with pytest.raises(Overloaded):
            await enter(gate, JANE)
        told = {name: dict(samples) for name, _, _, samples in gate.families()}
    flow = (("flow_schema", "devs"), ("priority_level", "devs"))
    assert told["apiserver_flowcontrol_dispatched_requests_total"][flow] == 2
    assert told["apiserver_flowcontrol_current_executing_requests"][flow] == 2
    assert told["apiserver_flowcontrol_current_inqueue_requests"][flow] == 1
    assert told["apiserver_flowcontrol_rejected_requests_total"][*flow, ("reason", "queue-full")] == 1
    assert told["apiserver_flowcontrol_nominal_limit_seats"][(("priority_level", "devs"),)] == 2


async def test_strangers_cannot_fill_the_memory() -> None:
    gate = Gate()
    for number in range(10_000):
        seat = gate.enter(ADMIN, "get", target.parse(f"/path/{number}"))
        if seat is not None:
            seat.leave()
        else:
            await asyncio.sleep(0)
    assert len(gate._courses) <= 4096
    gate.enter(ADMIN, "get", target.parse("/" + "x" * 100_000))
    assert all(len(text) < 2000 for key in gate._courses._courses for text in key if isinstance(text, str))
