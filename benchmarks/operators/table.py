"""The figures of operators as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from benchmarks.operators.process import HARDPOINT, KOPF, KOPF_EVENTS
from benchmarks.report import Line

Json = dict[str, Any]

TITLES = {
    "written": "The function writes a status for each change:",
    "read": "The function writes nothing:",
}


def _paced(pace: int) -> tuple[Line, ...]:
    return (
        Line(f"at_{pace}_reached_per_second", f"at {pace:,} changes a second: sent", "/s", more_is_better=True),
        Line(f"at_{pace}_called_p50_ms", "... until the function is called, middle", "ms"),
        Line(f"at_{pace}_called_p99_ms", "... 99th percentile", "ms"),
        Line(f"at_{pace}_settled_p50_ms", "... until a watcher sees the status, middle", "ms"),
        Line(f"at_{pace}_settled_p99_ms", "... 99th percentile", "ms"),
    )


LINES = (
    Line("first_s", "start of the process until all are dealt with", "s", ratio_goal=10),
    Line("first_cpu_s", "... processor time of the operator", "s"),
    Line("first_server_cpu_s", "... processor time of the API server", "s"),
    Line("memory_mb", "resident, at rest with all of them", "MB"),
    Line("memory_object_kb", "... an object", "KB", ratio_goal=5),
    Line("rest_cpu_percent", "processor at rest", "%"),
    Line("changes_per_second", "changes, as fast as the server takes them", "/s", more_is_better=True, ratio_goal=10),
    Line("change_cpu_us", "... processor time of the operator each", "µs"),
    Line("change_server_cpu_us", "... processor time of the API server each", "µs"),
    Line("fed_per_second", "changes put into the store from behind", "/s", more_is_better=True, ratio_goal=10),
    Line("fed_cpu_us", "... processor time of the operator each", "µs"),
    Line("fed_1000_p50_ms", "... at 1,000 a second: until the function is called, middle", "ms"),
    Line("fed_1000_p99_ms", "... 99th percentile (goal: 20 ms)", "ms"),
    *_paced(50),
    *_paced(200),
    *_paced(1000),
)


def tables(measured: Json) -> str:
    """Both tables, with what they were measured on, and what many objects cost."""
    versions = ", ".join(f"{name} {version}" for name, version in measured["versions"].items())
    parts = [
        f"{measured['objects']:,} objects; {versions}; {measured['measured']}; load average before and after: "
        f"{measured['load_average_before']:g}, {measured['load_average_after']:g}."
    ]
    for mode, title in TITLES.items():
        parts += [title, "\n".join(_table(measured[mode]))]
    if many := measured.get("many"):
        parts += [f"Hardpoint alone, {many['objects']:,} objects, nothing written:", "\n".join(_alone(many))]
    return "\n\n".join(parts)


def _table(by_operator: Mapping[str, Mapping[str, float]]) -> Iterator[str]:
    names = [kind.name for kind in (HARDPOINT, KOPF, KOPF_EVENTS) if kind.name in by_operator]
    yield "| | " + " | ".join(names) + " | times better than kopf | goal | |"
    yield "|---" + "|--:" * (len(names) + 2) + "|---|"
    ours, theirs = by_operator[HARDPOINT.name], by_operator.get(KOPF.name, {})
    for line in LINES:
        if line.name in ours:
            cells = [_cell(by_operator[name], line) for name in names]
            yield f"| {line.words} | {' | '.join(cells)} | {_judged(line, ours, theirs)} |"


def _alone(figures: Mapping[str, float]) -> Iterator[str]:
    yield from ("| | |", "|---|--:|")
    for line in LINES:
        if line.name in figures:
            yield f"| {line.words} | {_cell(figures, line)} |"


def _cell(figures: Mapping[str, float], line: Line) -> str:
    value = figures.get(line.name)
    if value is None:
        return ""
    digits = f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.3g}"
    return f"{digits} {line.unit}"


def _judged(line: Line, ours: Mapping[str, float], theirs: Mapping[str, float]) -> str:
    """How many times better, the goal, and whether that is met."""
    one, other = ours[line.name], theirs.get(line.name)
    better, worse = (one, other) if line.more_is_better else (other, one)
    if not better or not worse:
        return " | | "
    ratio = better / worse
    if not line.ratio_goal:
        return f"{ratio:.2f} | | "
    return f"{ratio:.2f} | {line.ratio_goal:g}x | {'met' if ratio >= line.ratio_goal else 'missed'}"
