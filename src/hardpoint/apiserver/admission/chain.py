"""The admission plugins in their order, run around validation."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from hardpoint.apiserver.admission.contract import Attributes, Mutates, Reader, Validates
from hardpoint.apiserver.authorization.contract import Authorizer


class Chain:
    """Every mutating plugin in order, and later every validating one."""

    def __init__(self, reader: Reader, authorizer: Authorizer) -> None:
        self._reader = reader
        self._authorizer = authorizer

    async def mutate(self, attributes: Attributes) -> None:
        for plugin in self._plugins[0]:
            await plugin.mutate(attributes, self._reader)

    async def validate(self, attributes: Attributes) -> None:
        for plugin in self._plugins[1]:
            await plugin.validate(attributes, self._reader)

    @cached_property
    def _plugins(self) -> tuple[Sequence[Mutates], Sequence[Validates]]:
        from hardpoint.apiserver.admission.plugins import plugins  # Not before the first write: they are many.

        return plugins(self._authorizer)
