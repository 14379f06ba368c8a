"""Keys that a YAML text says twice in one map, told by their lines, as Go's strict decoder tells them."""

from __future__ import annotations

from collections.abc import Iterator

import yaml

from hardpoint.machinery.fielderrors import quote


def duplicates(data: bytes) -> list[str]:
    """`line 6: key "labels" already set in map`, one a key, for a text that can be read."""
    return [f"line {line}: key {quote(key)} already set in map" for line, key in _repeated(data)]


def _repeated(data: bytes) -> Iterator[tuple[int, str]]:
    """The line and the text of each key that its map has already."""
    # The keys seen of each open map, or None for a list; and whether the next event of a map is a key.
    seen: list[set[str] | None] = []
    wants_key: list[bool] = []
    for event in yaml.parse(data, Loader=yaml.CSafeLoader):
        if isinstance(event, yaml.DocumentEndEvent):
            return
        if isinstance(event, yaml.CollectionEndEvent):
            seen.pop()
            wants_key.pop()
        if not isinstance(event, yaml.NodeEvent | yaml.CollectionEndEvent):
            continue
        if seen and not isinstance(event, yaml.CollectionStartEvent):
            keys = seen[-1]
            if keys is not None and wants_key[-1] and isinstance(event, yaml.ScalarEvent):
                if event.value in keys and event.value != "<<" and event.start_mark is not None:
                    yield event.start_mark.line + 1, event.value
                keys.add(event.value)
            wants_key[-1] = keys is not None and not wants_key[-1]
        if isinstance(event, yaml.CollectionStartEvent):
            seen.append(set() if isinstance(event, yaml.MappingStartEvent) else None)
            wants_key.append(isinstance(event, yaml.MappingStartEvent))
