"""Leases lose what belongs to coordinated leader election: that feature is off."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]

OF_COORDINATED_ELECTION = ("strategy", "preferredHolder")


def _create(obj: Json) -> None:
    for field in OF_COORDINATED_ELECTION:
        obj["spec"].pop(field, None)


def _update(obj: Json, old: Json) -> None:
    """What an old lease has from a time when the feature was on may stay."""
    for field in OF_COORDINATED_ELECTION:
        if field not in old["spec"]:
            obj["spec"].pop(field, None)


CREATE = {"Lease": _create}
UPDATE = {"Lease": _update}
