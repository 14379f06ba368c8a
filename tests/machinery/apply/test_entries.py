"""managedFields read and written: identity, order, and how many updaters are remembered."""

from __future__ import annotations

from typing import Any

import pytest

from hardpoint.machinery.apply import entries
from hardpoint.machinery.apply.entries import APPLY, UPDATE, Entry, Managed, who

Json = dict[str, Any]


def entry(**changes: Any) -> Json:
    said = {
        "manager": "m",
        "operation": "Update",
        "apiVersion": "v1",
        "time": "2026-01-01T00:00:00Z",
        "fieldsType": "FieldsV1",
        "fieldsV1": {"f:data": {"f:a": {}}},
    } | changes
    return {name: value for name, value in said.items() if value is not None}


def test_what_is_read_is_written() -> None:
    said = [entry(operation="Apply"), entry(), entry(manager="n", subresource="status", time=None)]
    written = entries.write(entries.read(said))
    assert written == [said[0], said[2], said[1]]
    assert [list(each) for each in written][1] == [
        "manager",
        "operation",
        "apiVersion",
        "fieldsType",
        "fieldsV1",
        "subresource",
    ]


def test_who_applies_is_one_in_all_versions() -> None:
    said = [entry(operation="Apply"), entry(operation="Apply", apiVersion="v2"), entry(), entry(apiVersion="v2")]
    assert len(entries.read(said)) == 3


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"operation": "Steal"}, "operation must be `Apply` or `Update`"),
        ({"operation": None}, "operation must be"),
        ({"apiVersion": ""}, "apiVersion must not be empty"),
        ({"fieldsType": "FieldsV2"}, "fieldsType of managed fields entry 0"),
        ({"fieldsType": None}, "fieldsType of managed fields entry 0"),
        ({"fieldsV1": {"q": {}}}, "entry 0 cannot be read"),
        ({"fieldsV1": {"f:a": 3}}, "entry 0 cannot be read"),
    ],
)
def test_what_is_no_entry_is_refused(change: Json, why: str) -> None:
    with pytest.raises(entries.BadEntry, match=why):
        entries.read([entry(**change)])


@pytest.mark.parametrize(
    ("said", "resets"),
    [(None, False), ([], True), ([{}], True), ([{}, {}], False), ([entry()], False)],
)
def test_how_a_client_asks_to_forget(said: list[Json] | None, resets: bool) -> None:
    assert entries.is_reset(said) is resets


def updaters(count: int, version: str = "v1") -> Managed:
    return {
        who(f"m{number}", UPDATE, version): Entry(version, {f"f:{number}": {}}, f"2026-01-01T00:00:{number:02}Z")
        for number in range(count)
    }


def test_ten_updaters_are_remembered() -> None:
    assert entries.capped(updaters(10)) == updaters(10)


def test_of_too_many_updaters_the_oldest_become_one() -> None:
    capped = entries.capped(updaters(13))
    assert len(capped) == 10
    ancient = capped[who(entries.ANCIENT, UPDATE, "v1")]
    assert ancient == Entry("v1", {"f:0": {}, "f:1": {}, "f:2": {}, "f:3": {}}, "2026-01-01T00:00:03Z")
    assert {identity.manager for identity in capped} == {entries.ANCIENT, *(f"m{number}" for number in range(4, 13))}


def test_versions_are_not_mixed_and_appliers_do_not_count() -> None:
    appliers = {who(f"a{number}", APPLY, "v1"): Entry("v1", {"f:a": {}}) for number in range(20)}
    odd = {who("odd", UPDATE, "v2"): Entry("v2", {"f:odd": {}}, "2025-01-01T00:00:00Z")}
    capped = entries.capped({**updaters(11), **odd, **appliers})
    assert capped.keys() >= {*appliers, *odd}
    assert sum(identity.operation == UPDATE for identity in capped) == 10


@pytest.mark.parametrize(
    ("change", "same"),
    [
        ({"time": "2027-01-01T00:00:00Z"}, True),
        ({"time": None}, True),
        ({"manager": "n"}, False),
        ({"fieldsV1": {"f:data": {}}}, False),
        ({"subresource": "status"}, False),
    ],
)
def test_times_may_differ(change: Json, same: bool) -> None:
    assert entries.differ_in_times_only([entry()], [entry(**change)]) is same
    assert not entries.differ_in_times_only([entry()], [entry(), entry()])
