"""What an expression may cost is what cel-go was recorded to say, and what it costs in the end is no more."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardpoint.machinery import cel
from hardpoint.machinery.cel.ranges import NEVER, UNBOUNDED, Range
from tests.machinery.cel.declared import Declared
from tests.machinery.cel.estimates import Case, cases

CASES = cases()
numbers = st.integers(0, 100) | st.integers(0, UNBOUNDED)
ranges = st.tuples(numbers, numbers).map(lambda pair: Range(min(pair), max(pair)))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.expression[:60])
def test_the_same_estimate(case: Case) -> None:
    declared = Declared.read(case.schema.type)
    program = cel.compile(case.expression, dict.fromkeys(case.schema.variables, declared.type))
    assert cel.estimate(program, declared.size) == (case.cost_min, case.cost_max)


def test_the_table_is_not_small() -> None:
    assert len(CASES) > 300
    assert sum(case.cost_max == UNBOUNDED for case in CASES) < len(CASES) // 4


@pytest.mark.parametrize(
    ("expression", "items", "cost_max"),
    [
        ("self.all(x, x > 0)", 10, 52),
        ("self.all(x, x > 0)", 1000, 5002),
        ("self.all(x, self.all(y, x >= y))", 1000, 6005002),
        ("size(self) > 3", 1000, 3),
    ],
)
def test_limits_make_a_rule_cheaper(expression: str, items: int, cost_max: int) -> None:
    program = cel.compile(expression, {"self": cel.list_of(cel.INT)})
    sizes = {("self",): cel.SizeRange(0, items)}
    assert cel.estimate(program, sizes.get).max == cost_max


def test_what_nobody_knows_is_unbounded() -> None:
    program = cel.compile("self.all(x, x.contains('a'))", {"self": cel.list_of(cel.STRING)})
    assert cel.estimate(program, lambda _: None).max == cel.UNBOUNDED


@given(st.lists(st.text(max_size=20), max_size=10), st.text(max_size=20))
def test_nothing_costs_more_than_was_estimated(items: list[str], name: str) -> None:
    types = {"items": cel.list_of(cel.STRING), "name": cel.STRING}
    sizes = {("items",): Range(0, 10), ("items", "@items"): Range(0, 20), ("name",): Range(0, 20)}
    for expression in (
        "items.all(i, i.contains(name) || i.size() > 3)",
        "items.map(i, i + name).filter(i, i.startsWith('a')).size() > 1",
        "items.exists(i, name.matches('^a' + i.lowerAscii().replace('(', ''))) || name in items",
        "items.sort().join(name).split(',').exists_one(x, x == name)",
    ):
        program = cel.compile(expression, types)
        try:
            _, cost = program.evaluate_counted({"items": items, "name": name})
        except cel.EvaluationError:
            continue
        assert cost <= cel.estimate(program, sizes.get).max


@given(ranges, ranges, st.sampled_from((0.1, 0.25, 1, 2, 2.1)))
def test_ranges_stay_ranges(one: Range, other: Range, factor: float) -> None:
    for made in (one.plus(other), one.times(other), one.scaled(factor), one.union(other)):
        assert 0 <= made.min <= made.max <= UNBOUNDED
    assert one.union(NEVER) == one
    assert one.plus(other) == other.plus(one)
