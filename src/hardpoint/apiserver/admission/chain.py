"""The admission plugins in their order, run around validation."""

from __future__ import annotations

from collections.abc import Sequence

from hardpoint.apiserver.admission.contract import Attributes, Mutates, Reader, Validates


class Chain:
    """Every mutating plugin in order, and later every validating one."""

    def __init__(self, mutating: Sequence[Mutates], validating: Sequence[Validates], reader: Reader) -> None:
        self._mutating = mutating
        self._validating = validating
        self._reader = reader

    async def mutate(self, attributes: Attributes) -> None:
        for plugin in self._mutating:
            await plugin.mutate(attributes, self._reader)

    async def validate(self, attributes: Attributes) -> None:
        for plugin in self._validating:
            await plugin.validate(attributes, self._reader)
