"""Puts what was measured into docs/performance.md, between its markers: `python -m benchmarks.page`.

The words around the figures are written by hand; the figures never are.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson

from benchmarks import report
from benchmarks.operators.table import tables

Json = dict[str, Any]

LATEST = Path(__file__).with_name("latest.json")
PAGE = Path(__file__).parents[1] / "docs/performance.md"
_BEGIN, _END = "<!-- measured: {} -->", "<!-- end of {} -->"


def update(measured: Json, page: Path = PAGE) -> None:
    """Replace the parts of the page that hold figures. A part that was not measured stays as it is."""
    text = page.read_text()
    text = _replaced(text, "circumstances", _circumstances(measured))
    text = _replaced(text, "table", report.table(measured["summary"]))
    if growth := measured.get("growth"):
        text = _replaced(text, "growth", report.curve({int(size): figures for size, figures in growth.items()}))
    operators = measured.get("controllers")
    if operators and operators["is_full"]:
        text = _replaced(text, "controllers", tables(operators))
    page.write_text(text)


def _replaced(text: str, part: str, inside: str) -> str:
    begin, end = _BEGIN.format(part), _END.format(part)
    before, found, rest = text.partition(begin)
    _, found_end, after = rest.partition(end)
    assert found, f"{PAGE} has no {begin}"
    assert found_end, f"{PAGE} has no {end}"
    return f"{before}{begin}\n\n{inside}\n\n{end}{after}"


def _circumstances(measured: Json) -> str:
    machine, versions = measured["machine"], measured["versions"]
    lines = [
        f"- command: `{measured['command'].strip()}`, {measured['measured']}",
        f"- machine: {machine['cores']} cores of {machine['processor']}, {machine['memory_gb']:g} GB, "
        f"Linux {machine['kernel']}; a durable write of 4 KB takes {machine['sync_ms']:.2f} ms",
        f"- load average when it began: {machine['load_average_before']:g}",
        "- versions: " + ", ".join(f"{name} {version}" for name, version in versions.items()),
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    update(orjson.loads(LATEST.read_bytes()))
