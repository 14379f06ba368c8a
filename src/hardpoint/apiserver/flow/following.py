"""Keeps a gate to what FlowSchemas and PriorityLevelConfigurations say, as they change."""

from __future__ import annotations

import asyncio
from typing import Any

from hardpoint.apiserver.flow.gate import Gate
from hardpoint.apiserver.hub import Hub
from hardpoint.apiserver.mirror import Mirror
from hardpoint.store.contract import Store

Json = dict[str, Any]

GROUP = "flowcontrol.apiserver.k8s.io"


class FlowObjects:
    """The stored objects, and the gate that goes by them."""

    def __init__(self, hub: Hub, store: Store, gate: Gate) -> None:
        self._gate = gate
        self._is_loaded = False
        self._has_changed = asyncio.Event()
        self.schemas = Mirror(hub, store, GROUP, "flowschemas", self._changed)
        self.levels = Mirror(hub, store, GROUP, "prioritylevelconfigurations", self._changed)

    async def load(self) -> None:
        """Read what there is. To be called once, when the hub is running."""
        await asyncio.gather(self.schemas.load(), self.levels.load())
        self._is_loaded = True
        self._gate.configure(self.schemas, self.levels)

    async def wait_until_changed(self) -> None:
        """Return when an object has changed since this was last called, or since they were loaded."""
        await self._has_changed.wait()
        self._has_changed.clear()

    def _changed(self, _namespace: str, _name: str, _obj: Json | None) -> None:
        if self._is_loaded:
            self._has_changed.set()
            self._gate.configure(self.schemas, self.levels)
