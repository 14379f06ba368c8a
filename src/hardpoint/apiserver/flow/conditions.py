"""What a FlowSchema says about its level: whether there is one of that name. Words and names are kube-apiserver's."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime
from typing import Any

import orjson

from hardpoint.apiserver.authentication.contract import MASTERS
from hardpoint.apiserver.flow.following import GROUP, FlowObjects
from hardpoint.machinery.messages import IN_PROCESS, Handler, Peer, Request, User
from hardpoint.machinery.timestamps import format_time

log = logging.getLogger(__name__)

Json = dict[str, Any]

MANAGER = "api-priority-and-fairness-config-consumer-v1"
_SELF = Peer(IN_PROCESS, User("system:apiserver", (MASTERS,)))


def dangling(level: str, *, is_there: bool) -> Json:
    """The condition, but for the time since when it holds."""
    references = f'This FlowSchema references the PriorityLevelConfiguration object named "{level}"'
    if is_there:
        return {"type": "Dangling", "status": "False", "reason": "Found", "message": f"{references} and it exists"}
    message = f"{references} but there is no such object"
    return {"type": "Dangling", "status": "True", "reason": "NotFound", "message": message}


async def keep_conditions(objects: FlowObjects, handle: Handler, now: Callable[[], datetime]) -> None:
    """Mend conditions as schemas and levels change, until cancelled."""
    while True:
        await objects.wait_until_changed()
        for schema in list(objects.schemas):
            level = ((schema.get("spec") or {}).get("priorityLevelConfiguration") or {}).get("name", "")
            condition = dangling(level, is_there=objects.levels.get("", level) is not None)
            if not _is_said(schema, condition):
                await _say(handle, schema, condition, format_time(now()))


def _is_said(schema: Json, condition: Json) -> bool:
    said = (schema.get("status") or {}).get("conditions") or ()
    return any({**each, **condition} == each for each in said)


async def _say(handle: Handler, schema: Json, condition: Json, time: str) -> None:
    name = schema["metadata"]["name"]
    others = [each for each in (schema.get("status") or {}).get("conditions") or () if each["type"] != "Dangling"]
    body = orjson.dumps({"status": {"conditions": [*others, {**condition, "lastTransitionTime": time}]}})
    headers = {"content-type": "application/merge-patch+json"}
    path = f"/apis/{GROUP}/v1/flowschemas/{name}/status"
    answer = await handle(Request("PATCH", path, f"fieldManager={MANAGER}", headers, body, _SELF))
    if answer.status >= 300 and answer.status != 404:
        log.warning("condition of a flow schema not written", extra={"schema": name, "status": answer.status})
