"""The guide's examples run as they are printed."""

from __future__ import annotations

import asyncio
import re
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from hardpoint.apiserver.server import ApiServer
from hardpoint.client.client import Client
from hardpoint.machinery.messages import User
from hardpoint.runtime import Informers, Key
from hardpoint.store.memory import MemoryStore

GUIDE = Path(__file__).parents[2] / "docs/guides/informers.md"


async def test_the_guide(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    code = "\n".join(re.findall(r"```python\n(.*?)```", GUIDE.read_text(), re.DOTALL))
    names: dict[str, Any] = {}
    exec(compile(code, str(GUIDE), "exec"), names)
    async with ApiServer(MemoryStore()).running() as api, asyncio.timeout(10):
        client = Client.in_process(api.handle, User("admin", ("system:masters",)))
        metadata = {"name": "front", "labels": {"app": "web", "tier": "front"}}
        await client.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata})
        monkeypatch.setattr(Client, "from_kubeconfig", lambda: nullcontext(client))
        await names["main"]()
        informers = Informers(client)
        informers.get("v1 ConfigMap", label_selector="app=web")
        async with informers.running(), asyncio.TaskGroup() as tasks:
            await informers.wait_until_synced()
            await names["write"](client, informers)
            working = tasks.create_task(names["work"](informers))
            queue = names["queue"]
            while queue.scheduled < 2:
                await asyncio.sleep(0)
                await queue.wait_until_idle()
            working.cancel()
    told = capsys.readouterr().out
    assert told.startswith("ADDED default/front\n1 ConfigMaps\n{")
    assert told.endswith("[]\n")
    assert queue.failures(Key("default", "front")) == 0
