"""Validation beside the other work: what takes a while is done in a thread, so that nobody else waits for it."""

from __future__ import annotations

import asyncio
from typing import Any

from hardpoint.machinery import validation
from hardpoint.machinery.errors import Costly
from hardpoint.machinery.fielderrors import FieldError
from hardpoint.machinery.kinds import Kind

Json = dict[str, Any]


async def on_create(kind: Kind, obj: Json) -> list[FieldError]:
    """Everything wrong with a new object."""
    try:
        return validation.on_create(kind, obj)
    except Costly:
        return await asyncio.to_thread(validation.on_create, kind, obj, is_patient=True)


async def on_update(kind: Kind, obj: Json, old: Json) -> list[FieldError]:
    """Everything wrong with replacing `old` by `obj`."""
    try:
        return validation.on_update(kind, obj, old)
    except Costly:
        return await asyncio.to_thread(validation.on_update, kind, obj, old, is_patient=True)


async def on_part_update(kind: Kind, part: str, obj: Json, old: Json) -> list[FieldError]:
    """What is wrong with replacing `old` by `obj` where only the part a subresource stands for could change."""
    try:
        return validation.on_part_update(kind, part, obj, old)
    except Costly:
        return await asyncio.to_thread(validation.on_part_update, kind, part, obj, old, is_patient=True)
