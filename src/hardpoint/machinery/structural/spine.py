"""A schema and all schemas below it that describe parts of an object; those of logic only judge, and are left out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hardpoint.machinery.structural.keywords import EMBEDDED, RULES

Json = dict[str, Any]

_PARTS = frozenset(("properties", "items", "additionalProperties"))


def has_parts(schema: Json) -> bool:
    """Whether there may be schemas below it. Most schemas, in large ones, are a scalar's."""
    return not _PARTS.isdisjoint(schema)


def spine(schema: Json) -> Iterator[Json]:
    """The schema and those below it."""
    waiting = [schema]
    while waiting:
        yield (now := waiting.pop())
        if has_parts(now):
            waiting += (now.get("properties") or {}).values()
            waiting += (now[word] for word in ("items", "additionalProperties") if isinstance(now.get(word), dict))


def has_embedded(schema: Json) -> bool:
    """Whether there are objects inside the object."""
    return any(each.get(EMBEDDED) for each in spine(schema))


def has_rules(schema: Json) -> bool:
    """Whether there are rules in CEL."""
    return any(each.get(RULES) for each in spine(schema))
