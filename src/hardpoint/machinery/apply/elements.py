"""Path elements: one step from a map or a list to what is in it, as the text that fieldsV1 writes.

`f:name` is a field, `k:{"name":"x"}` the item of a list that has these keys, `v:"x"` the item of a set, and `i:0` the
item at an index. Two texts are the same exactly if the elements are, so sets can be made of texts alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import orjson

from hardpoint.machinery.fielderrors import json_as_go
from hardpoint.machinery.remembering import remembered

SELF = "."
"""Not an element: inside a set it says that the parent of the others is a member too."""
_KINDS = "fkvi"
_ESCAPED = re.compile("[<>&]")
# Values sort by what they are before they sort by how large they are.
_RANKS: Mapping[type, int] = {float: 0, int: 0, str: 1, bool: 2, list: 3, dict: 4, type(None): 5}


class BadElement(ValueError):
    """A text that is no path element."""


def keyed(keys: Mapping[str, Any]) -> str:
    """The item of a list that has these values of its keys, which are in the order of their names."""
    return f"k:{_json(keys)}"


def valued(value: Any) -> str:
    """The item of a set."""
    return f"v:{_json(value)}"


def _json(value: Any) -> str:
    text = orjson.dumps(value).decode()
    # Hardly a key has something to escape, and looking for it costs more than writing it.
    return text if text.isascii() and not _ESCAPED.search(text) else json_as_go(value)


def canonical(text: str) -> str | None:
    """An element as a client wrote it, in the one form it has here; None for kinds nobody knows. Raises BadElement."""
    if len(text) < 2 or text[1] != ":":
        raise BadElement(f"{text!r} does not begin with one letter and a colon")
    kind, rest = text[0], text[2:]
    if kind == "f":
        return text
    if kind not in _KINDS:
        return None
    try:
        value = int(rest) if kind == "i" else orjson.loads(rest)
    except ValueError as wrong:
        raise BadElement(f"what follows the colon of {text!r} cannot be read: {wrong}") from wrong
    if kind == "k":
        if not isinstance(value, dict):
            raise BadElement(f"what follows the colon of {text!r} is no object")
        return keyed({name: value[name] for name in sorted(value)})
    return valued(value) if kind == "v" else f"i:{value}"


def shown(text: str) -> str:
    """An element as messages write it: `.name`, `[name="x"]`, `[="x"]`, `[0]`."""
    kind, rest = text[0], text[2:]
    if kind == "f":
        return f".{rest}"
    if kind == "k":
        pairs = orjson.loads(rest).items()
        return f"[{','.join(f'{name}={_shown_value(value)}' for name, value in pairs)}]"
    return f"[={_shown_value(orjson.loads(rest))}]" if kind == "v" else f"[{rest}]"


def _shown_value(value: Any) -> str:
    return orjson.dumps(value).decode()


@remembered(count=4096)
def order(text: str) -> tuple[Any, ...]:
    """Sorts elements as fieldsV1 does: fields by name, then items by their keys, values and indexes."""
    kind, rest = text[0], text[2:]
    if text == SELF:
        return (-1,)
    if kind == "f":
        return (0, rest)
    if kind == "k":
        return (1, tuple((name, *_rank(value)) for name, value in orjson.loads(rest).items()))
    return (2, *_rank(orjson.loads(rest))) if kind == "v" else (3, int(rest))


def _rank(value: Any) -> tuple[Any, ...]:
    rank = _RANKS[type(value)]
    return (rank, orjson.dumps(value)) if rank > 2 else (rank, value)
