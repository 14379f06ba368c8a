"""The tool that makes random writes: what it draws, what it takes out of answers, and what it tells of the rest."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import orjson
import pytest

from hardpoint.client.client import Client
from hardpoint.client.transport import Answer
from tools.differ.servers import opened
from tools.writes import running, steps
from tools.writes.__main__ import difference, report
from tools.writes.drawing import Dice, fields, many, named, one, without_duplicates
from tools.writes.running import Compared, Pair
from tools.writes.schemas import custom
from tools.writes.shrinking import shrunk
from tools.writes.steps import Step, sequence

SEEDS = range(300)


def test_a_seed_is_a_sequence() -> None:
    for seed in range(20):
        assert sequence(seed).steps == sequence(seed).steps
    assert sequence(1).steps != sequence(2).steps


def test_every_kind_is_written_in_every_way() -> None:
    found = [(each.kind.kind, step.way) for each in map(sequence, SEEDS) for step in each.steps]
    ways = {"create", "update", "apply", "merge", "json", "strategic", "status", "scale", "delete"}
    assert {way for _, way in found} == ways
    assert {kind.kind for kind in steps.BUILTIN} <= {kind for kind, _ in found}
    assert any(each.kind.is_custom for each in map(sequence, SEEDS))


def test_only_the_kinds_that_were_named() -> None:
    assert {sequence(seed, frozenset(("Secret", "Role"))).kind.kind for seed in range(50)} == {"Secret", "Role"}
    assert all(sequence(seed, frozenset(("custom",))).kind.is_custom for seed in range(20))


def test_tame_dice_draw_what_belongs() -> None:
    dice = Dice(1)
    draw = fields({"name": one("a")}, {"always": one(1)}, {"maybe": many(one(1, 2), 3)}, 0.5)
    drawn = [draw(dice) for _ in range(100)]
    assert all(each["name"] == "a" and each["always"] == 1 for each in drawn)
    assert {"maybe" in each for each in drawn} == {True, False}
    dice.whole = False
    assert {"always" in draw(dice) for _ in range(100)} == {True, False}


def test_wild_dice_draw_anything() -> None:
    dice = Dice(1)
    dice.wild = 0.5
    assert any(not isinstance(named(("a", "b"), one("x"))(dice), dict) for _ in range(100))


def test_keys_tell_items_apart() -> None:
    items = [{"k": 1, "v": 1}, {"k": 1, "v": 2}, {"k": 2}]
    assert without_duplicates(items, ("k",)) == [{"k": 1, "v": 1}, {"k": 2}]
    assert without_duplicates([1, 1, 2], ()) == [1, 2]


async def test_our_server_takes_every_schema() -> None:
    async with opened(None) as client:
        for number in range(steps.SCHEMAS):
            definition = custom(number).definition
            assert definition is not None
            body = orjson.dumps(definition)
            headers = {"content-type": "application/json"}
            answer = await client.raw("POST", running.DEFINITIONS, headers=headers, body=body)
            assert answer.status == 201, (number, answer.body)


def answer(status: int, body: Any) -> Answer:
    return Answer(status, {}, orjson.dumps(body))


def test_managers_are_compared_without_times_and_order() -> None:
    def told(*managers: str) -> list[Any]:
        entries = [{"manager": each, "operation": "Update", "time": each, "fieldsV1": {}} for each in managers]
        return running._normalized(answer(200, {"metadata": {"managedFields": entries}}))

    assert told("a", "b") == told("b", "a", "kube-apiserver")
    assert told("a", "b") != told("a")


def test_objects_in_messages_are_not_compared() -> None:
    text = 'x: Invalid value: {"a":[1,"}"]}: no, y: Invalid value: "z": no'
    assert running._without_objects(text) == 'x: Invalid value: <object>: no, y: Invalid value: "z": no'


def test_where_the_reference_is_to_blame_nobody_else_is() -> None:
    one_ = sequence(1)
    assert Compared(one_, 0, one_.steps[0], [500], [200]).is_same
    assert not Compared(one_, 0, one_.steps[0], [422], [500]).is_same


@pytest.fixture
async def pair() -> Any:
    async with opened(None) as reference, opened(None) as other:
        yield Pair(reference, other)


async def test_two_of_a_kind_are_the_same(pair: Pair) -> None:
    for seed in range(40):
        found = await pair.compare(sequence(seed))
        assert all(result.is_same for result in found), difference(found[-1], "")
        assert len(found) == len(sequence(seed).steps) or found[-1].is_excused


async def test_a_difference_is_shrunk_to_the_steps_it_needs(pair: Pair) -> None:
    chosen = sequence(0, frozenset(("ConfigMap",)))
    collection = chosen.path.rpartition("/")[0]
    made = Step("create", "POST", collection, {"metadata": {"name": "o0"}})
    idle = Step("merge", "PATCH", chosen.path, {"data": {"a": "b"}}, media=steps.MERGE)
    last = Step("merge", "PATCH", chosen.path, {"data": {"c": "d"}}, media=steps.MERGE)
    pair.clients = (pair.clients[0], _Blind(pair.clients[1]))  # type: ignore[assignment] # it answers as a client does
    different = (await pair.compare(replace(chosen, steps=(made, idle, idle, last))))[-1]
    smallest = await shrunk(pair, different)
    assert (different.number, smallest.sequence.steps) == (3, (made, last))
    assert "ConfigMap: code 200 became 418" in report([smallest], causes_max=9)
    assert "again: make it so" in difference(smallest, "make it so")


class _Blind:
    """A client of a server that does not want to hear of `c`."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def raw(self, method: str, path: str, **more: Any) -> Answer:
        if b'"c"' in more.get("body", b""):
            return answer(418, {"kind": "Status", "message": "no"})
        return await self._client.raw(method, path, **more)
