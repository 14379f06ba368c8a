"""The objects that operators work on, and a server that holds them."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import uuid4

from benchmarks.operators.with_hardpoint import app
from benchmarks.ours import Ours
from hardpoint.client.client import Client
from hardpoint.client.resources import Resource
from hardpoint.machinery.stored import to_stored
from hardpoint.sdk.resources import definitions
from hardpoint.store.open import STORE_FOLDER
from hardpoint.store.sqlite import SqliteStore

Json = dict[str, Any]

WIDGETS = Resource("bench.example.com/v1", "widgets", "Widget")
NAMESPACE = "default"
_BATCH = 1024


def widget(number: int) -> Json:
    """About 1 KB, without what the server adds."""
    env = [{"name": f"SETTING_{each}", "value": "some value " * 3} for each in range(12)]
    return {
        "apiVersion": WIDGETS.api_version,
        "kind": "Widget",
        "metadata": {"name": name_of(number), "namespace": NAMESPACE, "labels": {"tier": f"tier-{number % 10}"}},
        "spec": {"image": "registry.example/widget:1.2.3", "revision": 1, "sent": 0, "env": env},
    }


def name_of(number: int) -> str:
    return f"widget-{number:06}"


async def define(client: Client) -> Json:
    """Bring the definition and the first object. Returns that object as the server has it."""
    (definition,) = definitions(app)
    await client.create(definition)
    async with client.list_then_watch("customresourcedefinitions") as events:
        async for event in events:
            conditions = event.object.get("status", {}).get("conditions") or ()
            if any((each["type"], each["status"]) == ("Established", "True") for each in conditions):
                break
    return await client.create(widget(0), field_manager="kubectl-create")


async def fill(server: Ours, model: Json, count: int) -> None:
    """Put `count` of them into the store of a server that does not run, the first being there."""
    store = await SqliteStore.open(server.data_dir / STORE_FOLDER, holder="benchmark")
    try:
        for start in range(1, count, _BATCH):
            numbers = range(start, min(start + _BATCH, count))
            await asyncio.gather(*(store.create(key_of(number), _like(model, number)) for number in numbers))
    finally:
        await store.close()


def key_of(number: int) -> str:
    """Where the store has it."""
    return f"/registry/bench.example.com/{WIDGETS.plural}/{NAMESPACE}/{name_of(number)}"


def _like(model: Json, number: int) -> bytes:
    wanted = widget(number)
    return to_stored({**model, **wanted, "metadata": {**model["metadata"], **wanted["metadata"], "uid": str(uuid4())}})
