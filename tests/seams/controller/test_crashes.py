"""A process may end at any request: the next one goes on from there, and nothing is left behind."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from hardpoint.controller import Context, Requeue
from hardpoint.machinery.messages import Request
from hardpoint.seams.controller.guest.controller import ControllerGuest
from tests.definitions import definition
from tests.seams.controller import world as worlds
from tests.seams.controller.world import Widget, World, config_map, widget

Json = dict[str, Any]

REQUESTS_MAX = 60


class Outside:
    """What a controller looks after besides the cluster."""

    def __init__(self) -> None:
        self.made: set[str] = set()

    def guest(self) -> ControllerGuest:
        async def make(seen: Widget, ctx: Context) -> None:
            self.made.add(seen.name)
            made = await ctx.apply(config_map(seen.name, size=str(seen.size)))
            seen.status["size"] = int(made["data"]["size"])
            ctx.condition("Ready", True, "Made")

        async def clean(seen: Widget, ctx: Context) -> Requeue | None:
            there = await ctx.get("v1 ConfigMap", seen.name)
            if there is not None:
                await ctx.delete(there)
                return Requeue(after=0)
            self.made.discard(seen.name)
            return None

        return ControllerGuest("test", make, Widget, owns=["v1 ConfigMap"], finalize=clean)


class Crash:
    """Stands still at the n-th request, before the server hears of it or before we hear its answer."""

    def __init__(self, world: World, at: int, *, is_after: bool) -> None:
        self.reached = asyncio.Event()
        self._left = at
        world.before, world.after = (None, self._count) if is_after else (self._count, None)

    async def _count(self, request: Request) -> None:
        self._left -= 1
        if self._left == 0:
            self.reached.set()
            await asyncio.get_running_loop().create_future()


async def is_made(world: World) -> bool:
    found = await world.find("example.com/v1 Widget", "a")
    there = await world.find("v1 ConfigMap", "a")
    status = (found or {}).get("status") or {}
    return there is not None and status.get("size") == 3 and bool(status.get("conditions"))


async def is_gone(world: World) -> bool:
    return await world.find("example.com/v1 Widget", "a") is None and await world.find("v1 ConfigMap", "a") is None


async def live(world: World, outside: Outside) -> None:
    """From a widget's beginning to its end, from wherever it is."""
    async with world.controlled(outside.guest()):
        if not (await world.client.list("example.com/v1 Widget"))["items"]:
            await world.create(widget(size=3))
        await world.until(lambda: is_made(world))
        await world.client.delete("example.com/v1 Widget", "a", namespace="default")
        await world.until(lambda: is_gone(world))
    assert outside.made == set()


async def crashed(world: World, crash: Crash, outside: Outside) -> bool:
    """Whether the life came to its crash. If not, it came to its end."""
    life = asyncio.create_task(live(world, outside))
    reached = asyncio.create_task(crash.reached.wait())
    await asyncio.wait([life, reached], return_when=asyncio.FIRST_COMPLETED)
    was_reached = crash.reached.is_set()
    world.before = world.after = None
    reached.cancel()
    if not was_reached:
        await life
        return False
    life.cancel()
    await asyncio.wait([life])
    return True


@pytest.mark.parametrize("is_after", [False, True], ids=["before it is heard", "before the answer is"])
async def test_a_crash_at_any_request_costs_nothing(is_after: bool) -> None:
    async with worlds.world(definition("Widget")) as world:
        for number in range(1, REQUESTS_MAX):
            outside = Outside()
            if not await crashed(world, Crash(world, number, is_after=is_after), outside):
                break
            if await world.find("example.com/v1 Widget", "a") is None and not outside.made:
                continue  # It crashed after its end.
            await recover(world, outside)
        else:
            pytest.fail(f"a life takes more than {REQUESTS_MAX} requests")
    assert number > 8, "a life has at least as many requests"


async def recover(world: World, outside: Outside) -> None:
    """A new process brings the widget to where it should be, and then to its end."""
    async with world.controlled(outside.guest()):
        found = await world.find("example.com/v1 Widget", "a")
        if found is not None and "deletionTimestamp" not in found["metadata"]:
            await world.until(lambda: is_made(world))
            await world.client.delete("example.com/v1 Widget", "a", namespace="default")
        await world.until(lambda: is_gone(world))
    assert outside.made == set(), "what is outside of the cluster is cleaned up too"
