"""Types of variables as the tests write them, `list[5](string[10])`, and what they say about sizes."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from hardpoint.machinery import cel

_SIMPLE = {
    "dyn": cel.DYN,
    "int": cel.INT,
    "uint": cel.UINT,
    "double": cel.DOUBLE,
    "string": cel.STRING,
    "bool": cel.BOOL,
    "bytes": cel.BYTES,
    "duration": cel.DURATION,
    "timestamp": cel.TIMESTAMP,
    "authorizer": cel.AUTHORIZER,
    "resourceCheck": cel.RESOURCE_CHECK,
}
_SIZED = frozenset(("dyn", "string", "bytes", "list", "map"))
_HEAD = re.compile(r"[ ,]*([^(){},\[]*)(?:\[(\d+)\])?")


@dataclass(frozen=True)
class Declared:
    """`list(int)`, `map(string, dyn)`, `Name{field: type}`; what has a size may have a limit in square brackets."""

    name: str
    size_max: int
    inside: tuple[Declared, ...] = ()
    fields: dict[str, Declared] = field(default_factory=dict)

    @classmethod
    def read(cls, text: str) -> Declared:
        return _read(text)[0]

    @property
    def type(self) -> cel.Type:
        match self.name:
            case "list":
                return cel.list_of(self.inside[0].type)
            case "map":
                return cel.map_of(self.inside[0].type, self.inside[1].type)
            case name if name in _SIMPLE:
                return _SIMPLE[name]
        return cel.object_of(self.name, {name: declared.type for name, declared in self.fields.items()})

    def size(self, path: cel.Path) -> cel.SizeRange | None:
        """As the rules of custom resources have it: whatever a path begins with, it begins here."""
        found: Declared | None = self
        for name in path[1:]:
            found = None if found is None else found._step(name)
        return None if found is None else cel.SizeRange(0, found.size_max)

    def _step(self, name: str) -> Declared | None:
        match name:
            case "@items" | "@values":
                return self.inside[-1] if self.inside else None
            case "@keys":
                return self.inside[0] if self.name == "map" else None
        return self.fields.get(name)


def _read(text: str) -> tuple[Declared, str]:
    match = _HEAD.match(text)
    assert match is not None
    name, limit, rest = match[1], match[2], text[match.end() :]
    size_max = int(limit) if limit else cel.UNBOUNDED if name in _SIZED else 0
    if name in _SIMPLE:
        return Declared(name, size_max), rest
    if name in ("list", "map"):
        inside = []
        rest = rest[1:]
        for _ in range(1 if name == "list" else 2):
            declared, rest = _read(rest)
            inside.append(declared)
        return Declared(name, size_max, tuple(inside)), rest[1:]
    fields: dict[str, Declared] = {}
    rest = rest[1:]
    while not rest.startswith("}"):
        key, _, rest = rest.partition(":")
        fields[key.strip(" ,")], rest = _read(rest)
        rest = rest.lstrip(" ,")
    return Declared(name, size_max, fields=fields), rest[1:]
