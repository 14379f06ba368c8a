"""What the figures of several rounds come down to."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import page, report
from benchmarks.report import OURS, REAL, Json


def row(figure: str, ours: list[float], real: list[float] | None = None) -> Json:
    rounds = {OURS: {figure: ours}}
    if real is not None:
        rounds[REAL] = {figure: real}
    [only] = report.summary(rounds)
    return only


@pytest.mark.parametrize(
    ("figure", "ours", "real", "times_better"),
    [
        pytest.param("get_per_second", [800.0], [200.0], 4.0, id="more is better"),
        pytest.param("list_full_ms", [100.0], [300.0], 3.0, id="less is better"),
        pytest.param("get_per_second", [400.0, 40.0, 4.0], [100.0, 10.0, 1.0], 4.0, id="weather hits both"),
        pytest.param("get_per_second", [400.0, 900.0, 500.0], [100.0, 100.0, 100.0], 5.0, id="the middle one"),
        pytest.param("watch_lost", [0.0], [0.0], None, id="nothing to divide by"),
    ],
)
def test_the_ratio_says_how_many_times_better_ours_is(
    figure: str, ours: list[float], real: list[float], times_better: float | None
) -> None:
    assert row(figure, ours, real)["times_better"] == times_better


@pytest.mark.parametrize(
    ("figure", "ours", "real", "met"),
    [
        pytest.param("get_per_second", 400.0, 100.0, True, id="a ratio that is reached"),
        pytest.param("get_per_second", 399.0, 100.0, False, id="a ratio that is not"),
        pytest.param("ready_first_s", 0.29, 0.1, True, id="a number of our own, whatever the other has"),
        pytest.param("ready_first_s", 0.31, 9.0, False, id="a number that is too large"),
        pytest.param("get_p99_ms", 1.0, 9.0, None, id="no goal"),
    ],
)
def test_goals(figure: str, ours: float, real: float, met: bool | None) -> None:
    assert row(figure, [ours], [real]).get("met") is met


def test_a_ratio_alone_meets_nothing() -> None:
    assert "met" not in row("get_per_second", [400.0])


def test_every_line_of_the_table_is_a_figure() -> None:
    text = report.table(report.summary({OURS: {line.name: [1.0] for line in report.LINES}}))
    assert all(f"| {line.words} |" in text for line in report.LINES)


def test_the_page_takes_figures_and_keeps_its_words(tmp_path: Path) -> None:
    copy = tmp_path / "performance.md"
    copy.write_text(page.PAGE.read_text())
    measured = {
        "command": "python -m benchmarks",
        "measured": "2026-01-02T03:04:05+00:00",
        "machine": {
            "cores": 2,
            "processor": "Example",
            "memory_gb": 8.0,
            "kernel": "6.1",
            "sync_ms": 0.5,
            "load_average_before": 0.0,
        },
        "versions": {"hardpoint": "0.1.0"},
        "summary": report.summary({OURS: {"get_per_second": [12345.0]}}),
        "growth": {"1000": {"get_per_second": 54321.0}},
    }
    page.update(measured, copy)
    once = copy.read_text()
    page.update(measured, copy)
    assert copy.read_text() == once
    for said in ("12,345 /s", "2 cores of Example", "| 1,000 | 54,321 |", "## Where goals are missed, and why"):
        assert said in once
