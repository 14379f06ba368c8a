"""A reader of events that believes what it is told, and insists that it makes sense."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from hardpoint.client.events import Event

Json = dict[str, Any]


@dataclass
class Reader:
    """Believes what it is told, and insists that it makes sense."""

    objects: dict[str, Json] = field(default_factory=dict)
    told: list[Event] = field(default_factory=list)
    synced: int = 0

    def take_in(self, event: Event) -> None:
        if event.type == "SYNCED":
            self.synced += 1
            return
        self.told.append(event)
        name = event.object["metadata"]["name"]
        before = self.objects.get(name)
        assert (event.type == "ADDED") == (before is None), event
        if event.type == "DELETED":
            del self.objects[name]
            return
        if before is not None:
            assert before["metadata"]["uid"] == event.object["metadata"]["uid"]
            assert int(before["metadata"]["resourceVersion"]) < int(event.object["metadata"]["resourceVersion"])
        self.objects[name] = event.object
