"""Whatever happens in whatever order, what a handler of updates is told makes one unbroken story."""

from __future__ import annotations

import asyncio
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from hardpoint import App
from hardpoint.controller import Changed, Context
from tests.definitions import definition
from tests.seams.controller import world as worlds
from tests.seams.controller.test_handlers import patch, settled
from tests.seams.controller.world import Widget, World, widget

Told = list[tuple[int, int]]

sizes = st.integers(1, 4)
steps = st.lists(
    st.tuples(st.just("set"), sizes)
    | st.tuples(st.just("run"), st.just(0))
    | st.tuples(st.just("run while one fails"), st.sampled_from([0, 1, 2]))
    | st.tuples(st.just("set while it runs"), sizes)
    | st.tuples(st.just("write the status"), sizes),
    max_size=10,
)


class Model:
    """Three handlers of one field, of which some fail for a while."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.failing: int | None = None
        self.told: list[Told] = [[], [], []]
        self.created: list[int] = []
        self.app = App("test")
        for number in range(3):
            self._add(number)

        @self.app.on_create(Widget)
        async def created(seen: Widget, ctx: Context) -> None:
            self.created.append(seen.size)

    def _add(self, number: int) -> None:
        @self.app.on_update(Widget, field="spec.size", name=f"number-{number}")
        async def updated(seen: Widget, change: Changed, ctx: Context) -> None:
            if self.failing == number:
                raise RuntimeError("for a while")
            assert change.new == seen.size
            self.told[number].append((change.old, change.new))

    async def step(self, what: str, value: int) -> None:
        if what == "set":
            await patch(self.world, {"spec": {"size": value}})
        elif what == "write the status":
            status = {"status": {"value": value}}
            await self.world.client.patch(
                "example.com/v1 Widget", "a", status, namespace="default", subresource="status"
            )
        elif what == "set while it runs":
            running = asyncio.create_task(settled(self.world, self.app))
            await patch(self.world, {"spec": {"size": value}})
            await running
        else:
            self.failing = value if what == "run while one fails" else None
            await settled(self.world, self.app)
            self.failing = None


async def live(first: int, taken: list[tuple[str, int]]) -> tuple[Model, int]:
    async with worlds.world(definition("Widget")) as world:
        model = Model(world)
        await world.create(widget(size=first))
        for what, value in taken:
            await model.step(what, value)
        await settled(world, model.app)
        found: Any = await world.find("example.com/v1 Widget", "a")
        return model, found["spec"]["size"]


@settings(max_examples=25, deadline=None)
@given(sizes, steps)
def test_every_change_is_told_from_where_the_last_one_ended(first: int, taken: list[tuple[str, int]]) -> None:
    model, last = asyncio.run(live(first, taken))
    (start,) = model.created
    for told in model.told:
        story = [start, *(new for _, new in told)]
        assert [old for old, _ in told] == story[:-1], "nothing is left out, and nothing is told twice"
        assert story[-1] == last, "and it ends with what is there"
        assert all(old != new for old, new in told)
