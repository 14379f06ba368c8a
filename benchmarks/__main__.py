"""`python -m benchmarks`: measure, print the table, write it down."""

from __future__ import annotations

import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
import orjson

from benchmarks import controllers as operators
from benchmarks import growth, machine, page, report, scenarios, starting
from benchmarks.generator import Generator
from benchmarks.operators.table import tables
from benchmarks.ours import Ours, OursWithControllers, compile_sources
from benchmarks.real import Real, missing
from benchmarks.server import Server

PARTIAL = Path(__file__).parent / "out" / "partial.json"
STARTING = "starting"
CONTROLLERS = "controllers"
CHOICES = (STARTING, *scenarios.SCENARIOS, CONTROLLERS)

Makers = Sequence[Callable[[Path], Server]]
Measured = defaultdict[str, defaultdict[str, list[float]]]


@click.command()
@click.option("--rounds", default=3, show_default=True, help="How often each scenario measures each server.")
@click.option("--seconds", default=3.0, show_default=True, help="How long a round of reads or creates lasts.")
@click.option("--only", multiple=True, type=click.Choice(CHOICES), help="Measure this scenario; may be repeated.")
@click.option("--ours-only", is_flag=True, help="Do not measure kube-apiserver and etcd.")
@click.option(
    "--full", is_flag=True, help="Also how cost grows up to 1,000,000 objects, and larger operators; takes long."
)
@click.option("--controllers", is_flag=True, help="Let what --full measures run the controllers too.")
@click.option("--growth-max", default=max(growth.SIZES), show_default=True, help="Where --full stops.")
@click.option("--output", type=click.Path(path_type=Path), default=None, show_default="benchmarks/latest.json")
def main(
    *,
    rounds: int,
    seconds: float,
    only: tuple[str, ...],
    ours_only: bool,
    full: bool,
    controllers: bool,
    growth_max: int,
    output: Path,
) -> None:
    """Measure Hardpoint, and next to it kube-apiserver and etcd where they are installed."""
    compile_sources()
    makers: list[Callable[[Path], Server]] = [Ours]
    why_not = "" if ours_only else missing()
    if why_not:
        print(f"measuring hardpoint alone: {why_not}", file=sys.stderr)
    elif not ours_only:
        makers.append(Real)
    with tempfile.TemporaryDirectory(prefix="hardpoint-bench-") as scratch:
        here = Path(scratch)
        answer: dict[str, Any] = {
            "command": "python -m benchmarks " + " ".join(sys.argv[1:]),
            "measured": datetime.now(UTC).isoformat(timespec="seconds"),
            "machine": machine.describe(here),
            "versions": _versions(makers, here),
        }
        load = Generator(here)
        measured = _rounds(makers, load, here, rounds, seconds, only or CHOICES)
        rows = report.summary(measured)
        answer |= {"summary": rows, "rounds": measured}
        if rows:
            print("\n" + report.table(rows))
        if not only or CONTROLLERS in only:
            answer[CONTROLLERS] = operators.measure(here / CONTROLLERS, is_full=full)
            print("\n" + tables(answer[CONTROLLERS]))
        if full and set(only) != {CONTROLLERS}:
            sizes = [size for size in growth.SIZES if size <= growth_max]
            grown = (OursWithControllers if controllers else Ours)(here / "growth")
            answer["growth"] = growth.measure(grown, load, seconds, sizes)
            print("\n" + report.curve(answer["growth"]))
    if output is None and full and set(only) == {CONTROLLERS}:
        # They are measured by themselves, so they take their place among the others' figures.
        answer = orjson.loads(page.LATEST.read_bytes()) | {CONTROLLERS: answer[CONTROLLERS]}
        output = page.LATEST
    _write(answer, output, is_whole=not only and not ours_only)


def _write(answer: dict[str, Any], output: Path | None, *, is_whole: bool) -> None:
    """Write it down. What is to stand in the repository and in its documentation has everything in it."""
    target = output or (page.LATEST if is_whole else PARTIAL)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(orjson.dumps(answer, option=orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS) + b"\n")
    print(f"\nwritten to {target}", file=sys.stderr)
    if target == page.LATEST:
        page.update(orjson.loads(target.read_bytes()))
        print(f"the figures are in {page.PAGE}", file=sys.stderr)


def _versions(makers: Makers, here: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    for number, make in enumerate(makers):
        found |= make(here / f"version-{number}").versions()
    return found


def _rounds(makers: Makers, load: Generator, here: Path, rounds: int, seconds: float, names: Sequence[str]) -> Measured:
    """Measure each scenario of each round on one server after the other, so that both meet the same weather."""
    measured: Measured = defaultdict(lambda: defaultdict(list))
    if STARTING in names:
        for number in range(rounds):
            for each, make in enumerate((*makers, OursWithControllers)):
                _note(measured, make, starting.measure(make, here / f"start-{each}-{number}"))
    chosen = [scenario for name, scenario in scenarios.SCENARIOS.items() if name in names]
    if not chosen:
        return measured
    with ExitStack() as stack:
        servers = [make(here / f"steady-{each}") for each, make in enumerate(makers)]
        for server in servers:
            stack.enter_context(server.running())
            scenarios.prepare(server, load)
        for number in range(rounds):
            for scenario in chosen:
                for server in servers:
                    namespace = f"{scenario.__name__.replace('_', '-')}-{number}"
                    scenarios.make_namespace(server.endpoint, namespace)
                    _note(measured, server, scenario(server, load, seconds, namespace))
    return measured


def _note(measured: Measured, server: Server | Callable[[Path], Server], figures: scenarios.Figures) -> None:
    name: str = server.name  # type: ignore[union-attr] # both a server and its class have one
    print(f"  {name}: " + ", ".join(f"{each} {value:.4g}" for each, value in figures.items()))
    for each, value in figures.items():
        measured[name][each].append(value)


if __name__ == "__main__":
    main()
