"""What a value was before an update, as far as it can be told: what was wrong and did not change stays allowed.

Fields are told by their names, items of a list-map by their keys; items of other lists cannot be told apart. Follows
apiserver's CorrelatedObject and the ratcheting of custom resources built on it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hardpoint.machinery.sameness import is_same
from hardpoint.machinery.structural.keywords import LIST_MAP_KEYS, LIST_TYPE

Json = dict[str, Any]

_UNKNOWN: Any = object()


@dataclass(frozen=True, slots=True)
class Before:
    """The old value, or that there was none."""

    value: Any = _UNKNOWN

    def is_unchanged(self, value: Any) -> bool:
        return self.value is not _UNKNOWN and is_same(self.value, value)

    def field(self, name: str, within: str) -> Before:
        """What a field was; `within` is the name of the object it is in. A kind is never what it was."""
        if not isinstance(self.value, dict) or name not in self.value:
            return NOTHING
        if not within and name in ("kind", "apiVersion"):
            return NOTHING
        return Before(self.value[name])

    def item(self, item: Any, schema: Json) -> Before:
        """What an item of a list was."""
        if not isinstance(self.value, list) or schema.get(LIST_TYPE) != "map" or not isinstance(item, dict):
            return NOTHING
        keys = schema.get(LIST_MAP_KEYS) or ()
        wanted = [item.get(key) for key in keys]
        for old in self.value:
            if isinstance(old, dict) and is_same([old.get(key) for key in keys], wanted):
                return Before(old)
        return NOTHING


NOTHING = Before()
