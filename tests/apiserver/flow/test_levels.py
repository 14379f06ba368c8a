"""Seats by shares, and what may be lent and borrowed."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from hardpoint.apiserver.flow.levels import Levels, Shape, with_mandatory


def levels(*shapes: Shape, seats: int = 100) -> Levels:
    made = Levels(seats)
    made.configure(shapes)
    return made


def test_seats_follow_shares() -> None:
    made = levels(Shape("a", shares=30), Shape("b", shares=10))
    assert [level.nominal for level in made] == [75, 25]


def test_the_seats_of_the_stored_levels_are_kube_apiservers(reference: Path) -> None:
    stored = orjson.loads((reference / "bootstrap" / "prioritylevelconfigurations.json").read_bytes())
    made = levels(*with_mandatory(stored), seats=600)
    assert {level.shape.name: (level.nominal, level.minimum) for level in made if not level.is_exempt} == {
        "catch-all": (13, 13),
        "global-default": (49, 24),
        "leader-election": (25, 25),
        "node-high": (98, 73),
        "system": (74, 50),
        "workload-high": (98, 49),
        "workload-low": (245, 24),
    }


@pytest.mark.parametrize(
    ("mine", "theirs", "width", "fits"),
    [
        pytest.param(49, 50, 1, True, id="its own seats are its own"),
        pytest.param(50, 50, 1, False, id="nothing is left to borrow"),
        pytest.param(50, 10, 1, True, id="what others do not use can be borrowed"),
        pytest.param(60, 0, 1, False, id="but not more than the limit"),
        pytest.param(50, 0, 10, False, id="large answers do not borrow"),
        pytest.param(0, 50, 90, True, id="who is alone sits, however wide"),
    ],
)
def test_who_finds_a_seat(mine: int, theirs: int, width: int, fits: bool) -> None:
    made = levels(Shape("a", shares=1, borrowing_percent=20), Shape("b", shares=1, lendable_percent=50))
    a, b = made
    a.in_use, b.in_use = mine, theirs
    assert made.fits(a, width) is fits


def test_what_is_never_lent_stays_free() -> None:
    made = levels(Shape("a", shares=1), Shape("b", shares=1, lendable_percent=50))
    a, b = made
    a.in_use = 75
    assert (b.minimum, made.fits(a, 1)) == (25, False)


def test_a_level_that_stays_keeps_its_seats_and_one_that_goes_is_gone() -> None:
    made = levels(Shape("a", shares=1), Shape("b", shares=1))
    a, _ = made
    a.in_use = 7
    made.configure([Shape("a", shares=1)])
    assert [(level.shape.name, level.nominal, level.in_use) for level in made] == [("a", 100, 7)]
