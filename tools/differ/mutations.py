"""Small ways to break an object: a field goes, a value is replaced, something unknown or twice the same comes in.

Every mutation has a name that says what was done where: `-spec.replicas`, `spec.replicas="10x"`, `spec+unknown`,
`spec.containers+dup`. Which values a field gets depends on its name only, so two runs ask the same questions.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import orjson

VALUES: tuple[Any, ...] = ("", None, 0, -1, 70000, True, [], {}, "10x", "Bad_Value!", "a" * 300)
_NAMED_LENGTH_MAX = 20
Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Mutation:
    """One change of one place. `verb` is `remove`, `set` or `add`; `add` appends where the path ends in a list."""

    verb: str
    path: Path
    value: Any = None

    @property
    def name(self) -> str:
        place = ".".join(map(str, self.path))
        if self.verb == "remove":
            return f"-{place}"
        if self.verb == "set":
            return f"{place}={orjson.dumps(self.value).decode()[:_NAMED_LENGTH_MAX]}"
        parent = ".".join(map(str, self.path[:-1]))
        return f"{parent}+{'unknown' if self.path[-1] == 'unknown' else 'dup'}"

    def applied(self, body: Any) -> Any:
        """A changed copy of `body`."""
        changed = deepcopy(body)
        place = changed
        for step in self.path[:-1]:
            place = place[step]
        last: Any = self.path[-1]
        if self.verb == "remove":
            del place[last]
        elif self.verb == "add" and isinstance(place, list):
            place.append(self.value)
        else:
            place[last] = self.value
        return changed


def mutations(body: Any, *, values_each: int, seed: str = "") -> Iterator[Mutation]:
    """Every mutation of an object, with so many of the `VALUES` a field."""
    for path, value in _places(body, ()):
        yield Mutation("remove", path)
        chosen = random.Random(f"{seed}{path}").sample(VALUES, min(values_each, len(VALUES)))
        yield from (Mutation("set", path, new) for new in chosen if new != value or type(new) is not type(value))
        if isinstance(value, dict):
            yield Mutation("add", (*path, "unknown"), 1)
        elif isinstance(value, list) and value:
            yield Mutation("add", (*path, len(value)), value[0])


def _places(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    if path:
        yield path, value
    steps: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, below in steps:
        yield from _places(below, (*path, step))
