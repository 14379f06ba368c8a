"""Medians, ratios and goals: what the figures of several rounds come down to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

Json = dict[str, Any]
Rounds = Mapping[str, Mapping[str, Sequence[float]]]
"""By server and figure: one value a round."""

OURS = "hardpoint"
REAL = "kube-apiserver + etcd"
WITH_CONTROLLERS = "hardpoint with controllers"


@dataclass(frozen=True, slots=True)
class Line:
    """A figure and what we want of it: a ratio to the real pair, or a number that holds by itself."""

    name: str
    words: str
    unit: str
    more_is_better: bool = False
    ratio_goal: float = 0.0
    goal: float | None = None


LINES = (
    Line("ready_first_s", "ready, first start", "s", goal=0.3),
    Line("ready_first_cpu_s", "... processor time", "s"),
    Line("ready_again_s", "ready, second start", "s"),
    Line("memory_idle_mb", "resident, idle", "MB", goal=80),
    Line("memory_10k_mb", "resident, 10,000 pods and all the load before", "MB"),
    Line("get_per_second", "GET a pod, 16 connections", "/s", more_is_better=True, ratio_goal=4),
    Line("get_p99_ms", "... 99th percentile", "ms"),
    Line("get_cpu_us", "... processor time each", "µs"),
    Line("create_configmap_per_second", "durable create, ConfigMap of 1 KB", "/s", more_is_better=True, ratio_goal=3),
    Line("create_configmap_p99_ms", "... 99th percentile", "ms"),
    Line("create_configmap_cpu_us", "... processor time each", "µs"),
    Line("create_pod_per_second", "durable create, Pod", "/s", more_is_better=True, ratio_goal=3),
    Line("create_pod_p99_ms", "... 99th percentile", "ms"),
    Line("create_pod_cpu_us", "... processor time each", "µs"),
    Line("list_full_ms", "list 10,000 pods, JSON", "ms", ratio_goal=3),
    Line("list_full_mb", "... size", "MB"),
    Line("list_table_ms", "list 10,000 pods, Table", "ms"),
    Line("list_table_mb", "... size", "MB"),
    Line("list_selected_ms", "list 1,000 of 10,000 pods by label", "ms"),
    Line("watch_lost", "1,000 watchers, 1,000 events: lost, doubled, out of order", "", goal=0),
    Line("watch_resumed", "... watches the server ended, and that were resumed", ""),
    Line("watch_seconds", "... until all have all", "s"),
    Line("watch_per_second", "... deliveries", "/s", more_is_better=True),
    Line("watch_cpu_us", "... processor time a delivery", "µs"),
    Line("watch_open_seconds", "... until 1,000 watches are open", "s"),
)


CURVE = {
    "ready_s": "ready, s",
    "get_per_second": "GET /s",
    "get_cpu_us": "GET, µs of processor",
    "create_per_second": "create /s",
    "create_cpu_us": "create, µs of processor",
    "first_page_ms": "first page, ms",
    "next_page_ms": "next page, ms",
    "memory_mb": "resident, MB",
    "fill_per_second": "filled from behind, /s",
}
"""What the growth curve shows, in words."""


def summary(rounds: Rounds) -> list[Json]:
    """One row a figure that was measured: medians, how many times better ours is, and whether that is the goal."""
    rows = []
    for line in LINES:
        ours = rounds.get(OURS, {}).get(line.name)
        real = rounds.get(REAL, {}).get(line.name)
        if ours is None and real is None:
            continue
        row: Json = {"figure": line.name, "unit": line.unit}
        if ours:
            row["hardpoint"] = median(ours)
        if real:
            row["real"] = median(real)
        if also := rounds.get(WITH_CONTROLLERS, {}).get(line.name):
            row["with_controllers"] = median(also)
        if ours and real:
            row["times_better"] = _times_better(line, ours, real)
        row |= _judged(line, row)
        rows.append(row)
    return rows


def _times_better(line: Line, ours: Sequence[float], real: Sequence[float]) -> float | None:
    """The median of the ratios of neighbouring rounds: what slows both down at the same time cancels out."""
    pairs = [(one, other) if line.more_is_better else (other, one) for one, other in zip(ours, real, strict=False)]
    ratios = [better / worse for better, worse in pairs if worse]
    return median(ratios) if ratios else None


def _judged(line: Line, row: Json) -> Json:
    if line.ratio_goal:
        better = row.get("times_better")
        return {"goal": f"{line.ratio_goal:g}x"} | ({} if better is None else {"met": better >= line.ratio_goal})
    if line.goal is not None and "hardpoint" in row:
        wish = f"{line.goal:g} {line.unit}".strip()
        return {"goal": wish, "met": row["hardpoint"] <= line.goal}
    return {}


def table(rows: Sequence[Json]) -> str:
    """The summary as a Markdown table."""
    words = {line.name: line.words for line in LINES}
    lines = [
        f"| | {OURS} | {REAL} | times better | goal | | with controllers |",
        "|---|--:|--:|--:|--:|---|--:|",
    ]
    for row in rows:
        met = {True: "met", False: "missed"}.get(row.get("met"), "")  # type: ignore[arg-type] # absent is neither
        better = f"{row['times_better']:.2f}" if row.get("times_better") is not None else ""
        lines.append(
            f"| {words[row['figure']]} | {_number(row, 'hardpoint')} | {_number(row, 'real')} "
            f"| {better} | {row.get('goal', '')} | {met} | {_number(row, 'with_controllers')} |"
        )
    return "\n".join(lines)


def curve(sizes: Mapping[int, Mapping[str, float]]) -> str:
    """The growth curve as a Markdown table."""
    names = [name for name in CURVE if any(name in figures for figures in sizes.values())]
    lines = ["| objects | " + " | ".join(CURVE[name] for name in names) + " |", "|--:" * (len(names) + 1) + "|"]
    for size, figures in sizes.items():
        cells = (_digits(figures[name]) if name in figures else "" for name in names)
        lines.append(f"| {size:,} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _number(row: Json, side: str) -> str:
    value = row.get(side)
    if value is None:
        return ""
    return f"{_digits(value)} {row['unit']}".strip()


def _digits(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.3g}"
