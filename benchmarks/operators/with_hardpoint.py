"""An operator written with Hardpoint: `hardpoint run benchmarks/operators/with_hardpoint.py`."""

from __future__ import annotations

import os

from pydantic import BaseModel

from benchmarks.operators.tally import Tally
from hardpoint import App
from hardpoint.controller import Context, generation_changed
from hardpoint.crd import Int64, Resource

app = App("bench")
tally = Tally.from_environment() if "BENCH_TALLY" in os.environ else None
writes = os.environ.get("BENCH_WRITES") == "1"


class Setting(BaseModel):
    name: str
    value: str


@app.resource(group="bench.example.com", version="v1")
class Widget(Resource):
    class Spec(BaseModel):
        image: str
        revision: Int64
        sent: Int64 = 0
        env: list[Setting] = []

    class Status(BaseModel):
        observed: Int64 = 0

    spec: Spec
    status: Status


@app.controller(Widget, when=generation_changed)
async def observe(widget: Widget, ctx: Context) -> None:
    if tally is not None:
        tally.note(widget.spec.sent)
    if writes:
        widget.status.observed = widget.spec.revision
