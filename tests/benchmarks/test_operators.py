"""The figures of operators become tables, and what an operator notes is what is read."""

from __future__ import annotations

from pathlib import Path

from benchmarks.operators.table import LINES, tables
from benchmarks.operators.tally import SLOTS, Tally

FIGURES = {"first_s": 2.0, "memory_object_kb": 2.5, "changes_per_second": 500.0}


def test_better_is_less_or_more_as_the_figure_has_it() -> None:
    theirs = {"first_s": 30.0, "memory_object_kb": 10.0, "changes_per_second": 100.0}
    told = tables(measured({"hardpoint": FIGURES, "kopf": theirs}))
    assert "| 2 s | 30 s | 15.00 | 10x | met |" in told
    assert "| 2.5 KB | 10 KB | 4.00 | 5x | missed |" in told
    assert "| 500 /s | 100 /s | 5.00 | 10x | missed |" in told


def test_without_kopf_nothing_is_compared() -> None:
    told = tables(measured({"hardpoint": FIGURES}))
    assert "| 2 s |" in told
    assert "met" not in told


def test_all_rows_have_as_many_cells_as_the_head() -> None:
    every = {line.name: 1.5 for line in LINES}
    told = tables(measured({"hardpoint": every, "kopf": FIGURES, "kopf, events": {}}))
    rows = [line for line in told.splitlines() if line.startswith("|")]
    assert {row.count("|") for row in rows} == {8}


def test_delays_are_told_from_a_note_on(tmp_path: Path) -> None:
    read, noted = Tally.create(tmp_path / "tally"), Tally(tmp_path / "tally")
    for _ in range(SLOTS + 3):
        noted.note(0)
    assert read.count == SLOTS + 3
    assert len(read.delays_ms(SLOTS)) == 3
    assert min(read.delays_ms(SLOTS)) > 0


def measured(figures: dict[str, dict[str, float]]) -> dict[str, object]:
    circumstances = {"objects": 10, "versions": {}, "measured": "", "load_average_before": 1, "load_average_after": 1}
    return circumstances | {"written": figures, "read": figures}
