"""An operator written with Hardpoint next to the same one written with kopf: `python -m benchmarks --only controllers`.

Both work on the same objects, about 1 KB each, of an API server in a process of its own: `hardpoint up`, durable, over
TLS. One time the function writes what it saw into the status, the other time it writes nothing, which shows what runs
around it. Each is measured from the start of its process until the last of the objects is dealt with; at rest; under
changes that come as fast as the server takes them; and under changes at a steady pace. Where that server is what holds
things up, changes are put into its store from behind: what an operator can take is seen then.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import uvloop

from benchmarks.operators import fed
from benchmarks.operators.process import HARDPOINT, KOPF, KOPF_EVENTS, Kind
from benchmarks.operators.trial import Size, Trial
from benchmarks.scenarios import Figures

Json = dict[str, Any]

SMALL = Size(objects=1_000, changes=500, rest_seconds=2.0, paced_seconds=2.0)
FULL = Size(objects=10_000, changes=2_000, rest_seconds=10.0, paced_seconds=3.0)
MANY = Size(objects=50_000, changes=2_000, rest_seconds=10.0, paced_seconds=3.0)
BOTH_PACE = 50
"""Changes a second that both can bear, even on two cores that others use as well."""
OUR_PACES = (200, 1_000)
FED_PACE = 1_000
"""From behind, where the API server has little to do with it."""
MODES = {"written": True, "read": False}
"""Whether the function writes a status."""


def measure(directory: Path, *, is_full: bool) -> Json:
    """Figures by mode and operator. The full size takes a quarter of an hour, and has ours with MANY objects too."""
    size = FULL if is_full else SMALL
    kinds = (HARDPOINT, KOPF, KOPF_EVENTS) if find_spec("kopf") is not None else (HARDPOINT,)
    answer: Json = {
        "measured": datetime.now(UTC).isoformat(timespec="seconds"),
        "load_average_before": round(os.getloadavg()[0], 2),
        "is_full": is_full,
        "objects": size.objects,
        "versions": {kind.name: version(kind.name) for kind in kinds if kind is not KOPF_EVENTS},
    }
    for mode in MODES:
        answer[mode] = {kind.name: _measured(kind, size, directory / mode, mode) for kind in kinds}
    for kind in kinds:
        answer["read"][kind.name] |= _fed(kind, size, directory / "fed")
    if is_full:
        answer["many"] = {"objects": MANY.objects} | _measured(HARDPOINT, MANY, directory / "many", "read")
    return answer | {"load_average_after": round(os.getloadavg()[0], 2)}


def _fed(kind: Kind, size: Size, directory: Path) -> Figures:
    here = directory / kind.name.replace(", ", "-")
    here.mkdir(parents=True)
    figures = uvloop.run(fed.measure(kind, size, here, FED_PACE))
    print(f"  {kind.name}, {size.objects:,} objects, fed: {_told(figures)}")
    return figures


def _measured(kind: Kind, size: Size, directory: Path, mode: str) -> Figures:
    here = directory / kind.name.replace(", ", "-")
    here.mkdir(parents=True)
    paces: Sequence[int] = (BOTH_PACE, *OUR_PACES) if kind is HARDPOINT else (BOTH_PACE,)
    figures = uvloop.run(Trial(kind, size, here, writes=MODES[mode], paces=paces).measure())
    print(f"  {kind.name}, {size.objects:,} objects, status {mode}: {_told(figures)}")
    return figures


def _told(figures: Figures) -> str:
    return ", ".join(f"{name} {value:.4g}" for name, value in figures.items())
