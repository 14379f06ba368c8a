"""A dry run writes nothing, whatever is written; and the server checks it all the same."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from hardpoint.apiserver.server import ApiServer
from hardpoint.client.client import Client
from hardpoint.machinery.errors import ApiError
from hardpoint.machinery.messages import User
from hardpoint.store.memory import MemoryStore

Json = dict[str, Any]


def config_map(name: str, **data: str) -> Json:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


@pytest.fixture
async def client() -> AsyncIterator[Client]:
    async with ApiServer(MemoryStore()).running() as server:
        yield Client.in_process(server.handle, User("admin", ("system:masters",)))


async def test_no_verb_changes_anything(client: Client) -> None:
    there = await client.create(config_map("there", a="b"))
    dry = client.dry_run()
    assert (await dry.create(config_map("new")))["metadata"]["name"] == "new"
    assert (await dry.update({**there, "data": {"a": "c"}}))["data"] == {"a": "c"}
    assert (await dry.patch("configmaps", "there", {"data": {"a": "d"}}, dry_run=True))["data"] == {"a": "d"}
    await dry.apply(config_map("applied"), field_manager="test")
    await dry.delete("configmaps", "there")
    await dry.delete_collection("configmaps")
    await dry.raw("DELETE", "/api/v1/namespaces/default/configmaps/there")
    assert (await client.list("configmaps"))["items"] == [there]


async def test_what_the_server_would_refuse_is_refused(client: Client) -> None:
    with pytest.raises(ApiError, match="is invalid"):
        await client.dry_run().create(config_map("Not A Name"))


async def test_reads_are_reads(client: Client) -> None:
    there = await client.create(config_map("there", a="b"))
    dry = client.dry_run()
    assert await dry.get("configmaps", "there") == there
    async with dry.list_then_watch("configmaps") as events:
        assert (await anext(events)).object == there
