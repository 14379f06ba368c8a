"""What becomes of the kinds of dynamic resource allocation on their way in.

A taint that does not say since when it is there is there since the object is.
"""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]


def _slice_create(obj: Json) -> None:
    for device in obj["spec"].get("devices") or ():
        for taint in device.get("taints") or ():
            _begin(taint, obj)


def _rule_create(obj: Json) -> None:
    _begin(obj["spec"].get("taint") or {}, obj)


def _begin(taint: Json, obj: Json) -> None:
    if taint and (created := obj["metadata"].get("creationTimestamp")):
        taint.setdefault("timeAdded", created)


CREATE = {"DeviceTaintRule": _rule_create, "ResourceSlice": _slice_create}
