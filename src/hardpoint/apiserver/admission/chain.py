"""The admission plugins in their order, run around validation."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from hardpoint.apiserver.admission.contract import Asked, Attributes, Mutates, Reader, Validates
from hardpoint.apiserver.authorization.contract import Authorizer

_Plugins = tuple[Sequence[Mutates], Sequence[Validates]]


class Chain:
    """Every mutating plugin in order, and later every validating one."""

    def __init__(self, reader: Reader, authorizer: Authorizer) -> None:
        self._reader = reader
        self._authorizer = authorizer
        self._by_resource: dict[str, _Plugins] = {}

    async def mutate(self, attributes: Attributes) -> None:
        for plugin in self._about(attributes.kind.resource)[0]:
            await plugin.mutate(attributes, self._reader)

    async def validate(self, attributes: Attributes) -> None:
        for plugin in self._about(attributes.kind.resource)[1]:
            await plugin.validate(attributes, self._reader)

    def _about(self, resource: str) -> _Plugins:
        """The plugins that have to do with a resource."""
        found = self._by_resource.get(resource)
        if found is None:
            mutating, validating = self._plugins
            found = self._by_resource[resource] = (
                [each.plugin for each in mutating if each.about(resource)],
                [each.plugin for each in validating if each.about(resource)],
            )
        return found

    @cached_property
    def _plugins(self) -> tuple[Sequence[Asked[Mutates]], Sequence[Asked[Validates]]]:
        from hardpoint.apiserver.admission.plugins import plugins  # Not before the first write: they are many.

        return plugins(self._authorizer)
