"""A process may end at any request: what handlers did is not done again, and what they did not do is done."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import pytest

from hardpoint import App
from hardpoint.controller import Changed, Context
from hardpoint.machinery.errors import forbidden
from hardpoint.machinery.messages import Request
from tests.definitions import definition
from tests.seams.controller import world as worlds
from tests.seams.controller.test_crashes import REQUESTS_MAX, Crash
from tests.seams.controller.test_handlers import WIDGET, is_created, patch
from tests.seams.controller.world import Widget, World, widget

Json = dict[str, Any]


class Life:
    """A widget's life, and what its handlers saw of it."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.calls: Counter[str] = Counter()
        self.changes: set[tuple[int, int]] = set()

    def called(self, name: str) -> None:
        self.calls[name] += 1
        self.world.happened()

    def app(self) -> App:
        app = App("test")

        @app.on_create(Widget)
        async def first(seen: Widget, ctx: Context) -> None:
            self.called("create first")

        @app.on_create(Widget)
        async def second(seen: Widget, ctx: Context) -> None:
            self.called("create second")
            seen.status["made"] = True

        @app.on_update(Widget, field="spec.size")
        async def resized(seen: Widget, change: Changed, ctx: Context) -> None:
            self.changes.add((change.old, change.new))
            self.called("update")

        @app.on_delete(Widget)
        async def clean(seen: Widget, ctx: Context) -> None:
            self.called("delete first")

        @app.on_delete(Widget)
        async def clean_more(seen: Widget, ctx: Context) -> None:
            self.called("delete second")

        return app

    async def go_on(self) -> None:
        """Live to the end, from wherever a process before this one came to."""
        async with self.world.controlled(*self.app().controllers.values()):
            await self.world.until(self._has_handled("create first", "create second"))
            found = await self.world.find(WIDGET, "a")
            if found is not None and found["spec"]["size"] == 1:
                await patch(self.world, {"spec": {"size": 2}})
            await self.world.until(self._has_handled("update"))
            if await self.world.find(WIDGET, "a") is not None:
                await self.world.client.delete(WIDGET, "a", namespace="default")
            await self.world.until(self._is_gone)

    def _has_handled(self, *names: str) -> Any:
        async def holds() -> bool:
            return all(self.calls[name] for name in names)

        return holds

    async def _is_gone(self) -> bool:
        return await self.world.find(WIDGET, "a") is None


async def crashed(life: Life, crash: Crash) -> bool:
    """Whether the life came to its crash. If not, it came to its end."""
    living = asyncio.create_task(life.go_on())
    reached = asyncio.create_task(crash.reached.wait())
    await asyncio.wait([living, reached], return_when=asyncio.FIRST_COMPLETED)
    was_reached = crash.reached.is_set()
    life.world.before = life.world.after = None
    reached.cancel()
    if was_reached:
        living.cancel()
    await asyncio.wait([living])
    if not was_reached:
        living.result()
    return was_reached


@pytest.mark.parametrize("is_after", [False, True], ids=["before it is heard", "before the answer is"])
async def test_a_crash_at_any_request_repeats_at_most_what_was_under_way(is_after: bool) -> None:
    async with worlds.world(definition("Widget")) as world:
        for number in range(1, REQUESTS_MAX):
            life = Life(world)
            await world.create(widget(size=1))
            was_reached = await crashed(life, Crash(world, number, is_after=is_after))
            if was_reached:
                await life.go_on()
            repeated = sum(count - 1 for count in life.calls.values())
            assert set(life.calls) == {"create first", "create second", "update", "delete first", "delete second"}
            assert repeated <= (1 if was_reached else 0), f"request {number}: {life.calls}"
            assert life.changes == {(1, 2)}
            if not was_reached:
                break
        else:
            pytest.fail(f"a life takes more than {REQUESTS_MAX} requests")
    assert number > 8, "a life has at least as many requests"


class Refusal:
    """Refuses the n-th write, before the server hears of it."""

    def __init__(self, world: World, at: int) -> None:
        self.left = at
        world.before = self._count

    async def _count(self, request: Request) -> None:
        if request.method == "PATCH":
            self.left -= 1
            if self.left == 0:
                raise forbidden("widgets.example.com", "a", "not this time")


async def test_what_was_done_is_written_though_nothing_else_is_to_be_done() -> None:
    async with worlds.world(definition("Widget")) as world:
        app, calls = App("test"), []

        @app.on_create(Widget)
        async def created(seen: Widget, ctx: Context) -> None:
            calls.append(seen.name)

        Refusal(world, 1)
        async with world.controlled(*app.controllers.values()):
            await world.create(widget())
            await world.until(is_created(world))
        assert calls == ["a"]


async def test_a_write_that_is_refused_is_made_later_and_nothing_is_repeated() -> None:
    async with worlds.world(definition("Widget")) as world:
        for number in range(1, REQUESTS_MAX):
            life = Life(world)
            await world.create(widget(size=1))
            refusal = Refusal(world, number)
            await life.go_on()
            # A status is the handler's own: where it cannot be written, the handler has failed.
            assert life.calls.pop("create second") <= 2
            assert set(life.calls.values()) == {1}
            assert life.changes == {(1, 2)}
            world.before = None
            if refusal.left > 0:
                break
    assert number > 5, "a life has at least as many writes"
