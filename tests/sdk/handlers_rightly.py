"""What an author may write of handlers, for the type checker: `test_typing.py` has it looked at."""

from __future__ import annotations

from typing import Any, ClassVar, Self, assert_type

from hardpoint import App
from hardpoint.controller import Changed, Context, PlainContext, Requeue
from hardpoint.objects import Object

app = App("typed")


class Widget:
    api_version: ClassVar[str] = "example.com/v1"
    kind: ClassVar[str] = "Widget"

    @classmethod
    def from_json(cls, json: dict[str, Any]) -> Self:
        return cls()

    def to_json(self) -> dict[str, Any]:
        return {}


@app.index("v1 Pod")
def by_node(pod: Object) -> str | None:
    return "node"


@app.index(Widget)
def sizes(widget: Widget) -> dict[str, int]:
    return {"a": 3}


@app.on_create(Widget, retries=3, backoff_seconds=0.5, when=lambda widget: True)
async def created(widget: Widget, ctx: Context) -> Requeue | None:
    assert_type(await ctx.index(by_node, "node"), list[Object])
    assert_type(await ctx.index(sizes, "a"), list[int])
    return Requeue(after=3)


@app.on_update(Widget, field="spec.size")
async def resized(widget: Widget, change: Changed, ctx: Context) -> None: ...


@app.on_update("v1 Pod", field=["metadata", "labels", "example.com/a"])
def relabelled(pod: Object, ctx: PlainContext) -> None:
    assert_type(ctx.index(sizes, "a"), list[int])


@app.on_delete("v1 Pod", label_selector="a=b")
def deleted(pod: Object, ctx: PlainContext) -> Requeue | None:
    return None


@app.on_event(Widget)
def heard(widget: Widget, change: Changed, ctx: PlainContext) -> None: ...


@app.timer(Widget, every=60, idle=10)
@app.on_create(Widget, name="both")
async def ring(widget: Widget, ctx: Context) -> None: ...


@app.daemon(Widget)
async def attend(widget: Widget, ctx: Context) -> None: ...


@app.daemon(Widget)  # wrong
def cannot_be_cancelled(widget: Widget, ctx: PlainContext) -> None: ...


@app.timer(Widget)  # wrong
async def how_often(widget: Widget, ctx: Context) -> None: ...


@app.on_create(Widget)  # wrong
async def from_what(widget: Widget, change: Changed, ctx: Context) -> None: ...


@app.on_event(Widget, retries=3)  # wrong
async def tried_again(widget: Widget, ctx: Context) -> None: ...
