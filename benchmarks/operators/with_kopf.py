"""An operator written with kopf, set up for speed: `kopf run benchmarks/operators/with_kopf.py`.

Its handlers come in two kinds. Those of changes are called again until they succeed, as Hardpoint's are, and kopf keeps
what it needs for that in annotations. Those of events are called once, whatever becomes of it: the least it can do.
"""

from __future__ import annotations

import os
from typing import Any

import kopf

from benchmarks.operators.tally import Tally

WIDGETS = ("bench.example.com", "v1", "widgets")
tally = Tally.from_environment()
writes = os.environ.get("BENCH_WRITES") == "1"


@kopf.on.startup()
def configure(settings: kopf.OperatorSettings, **_: Any) -> None:
    settings.posting.enabled = False
    settings.peering.standalone = True
    settings.scanning.disabled = True
    settings.watching.chunk_size = 500
    settings.queueing.idle_timeout = 1.0
    settings.persistence.progress_storage = kopf.AnnotationsProgressStorage()


async def observe(spec: kopf.Spec, patch: kopf.Patch, **_: Any) -> None:
    tally.note(spec["sent"])
    if writes:
        patch.status["observed"] = spec["revision"]


async def observe_event(spec: kopf.Spec, status: kopf.Status, patch: kopf.Patch, **_: Any) -> None:
    if not writes or status.get("observed") != spec["revision"]:
        await observe(spec, patch)


if os.environ.get("BENCH_KOPF") == "events":
    kopf.on.event(*WIDGETS)(observe_event)
else:
    kopf.on.resume(*WIDGETS)(observe)
    kopf.on.create(*WIDGETS)(observe)
    kopf.on.update(*WIDGETS, field="spec")(observe)
