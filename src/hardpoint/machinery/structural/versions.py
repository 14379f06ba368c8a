"""From one version of a custom resource to another.

With the conversion `None` the name of the version changes. Each version has a schema of its own: on the way in, what
the stored version does not know is lost; on the way out an object first gets the defaults of the version it was stored
in, and then loses what the served one does not know. All other conversions are somebody else's, who is a Converter.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from hardpoint.machinery.conversion import Convert
from hardpoint.machinery.errors import HardpointError
from hardpoint.machinery.kinds import Kind

Json = dict[str, Any]


class ConversionFailed(HardpointError):
    """Objects could not be converted. The text is told to whoever asked for them."""


class Converter(Protocol):
    """Converts the objects of a custom resource. Calls overlap, and any may be repeated."""

    async def convert(self, objects: Sequence[Json], api_version: str) -> list[Json]:
        """The same objects in that version, in the same order. Raises ConversionFailed."""
        ...


def conversions(kind: Kind) -> tuple[Convert | None, Convert]:
    """How objects of a custom kind go into the store, None if as they are, and how they come out of it."""
    structure = kind.structure
    assert structure is not None, "only custom kinds have structures"
    stored = structure.stored_as

    def convert_in(obj: Json) -> Json:
        assert stored is not None, "who stores its own version converts nothing"
        return stored.structure.prune({**obj, "apiVersion": stored.api_version})

    def convert_out(obj: Json) -> Json:
        source = structure.versions.get(obj["apiVersion"], structure)
        settled = source.settle(obj)
        settled["apiVersion"] = kind.api_version
        return settled if source is structure else structure.prune(settled)

    return (convert_in if stored is not None else None), convert_out
