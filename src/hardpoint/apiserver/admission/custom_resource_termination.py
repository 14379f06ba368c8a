"""No object of a kind is made whose definition is going away: it would be deleted at once, or be left behind."""

from __future__ import annotations

from hardpoint.apiserver.admission.contract import Attributes, Reader
from hardpoint.machinery import errors

_WHY = "create not allowed while custom resource definition is terminating"


class CustomResourceTermination:
    async def mutate(self, attributes: Attributes, reader: Reader) -> None:
        structure = attributes.kind.structure
        if structure is not None and structure.is_terminating and attributes.operation == "CREATE":
            raise errors.forbidden(attributes.kind.resource, attributes.name, _WHY)
