"""Conditions in a status, as Kubernetes' own types have them: a place for what `ctx.condition(...)` says.

    class Status(BaseModel):
        conditions: Conditions = []

A list with one entry a type, so that several controllers can each have their own.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from hardpoint.seams.crd.guest.markers import MapKeys
from hardpoint.seams.crd.guest.values import Int64

_LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_TYPE = rf"^({_LABEL}(\.{_LABEL})*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$"
_REASON = "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$"


class Condition(BaseModel):
    """One thing that is so, or not, or not known."""

    type: Annotated[str, Field(pattern=_TYPE, max_length=316)]
    """What it is about, such as Ready."""
    status: Literal["True", "False", "Unknown"]
    observed_generation: Annotated[Int64, Field(ge=0)] | None = None
    """Of which generation of the object it is true."""
    last_transition_time: datetime
    """Since when its status is what it is."""
    reason: Annotated[str, Field(pattern=_REASON, min_length=1, max_length=1024)]
    """Why, in one word for machines."""
    message: Annotated[str, Field(max_length=32768)]
    """Why, in a sentence for people; may be empty."""


Conditions = Annotated[list[Condition], MapKeys("type")]
