"""Small damage to good input: trees of JSON, and bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import orjson

HOSTILE: tuple[Any, ...] = (
    *(
        None,
        True,
        False,
        0,
        -1,
        1,
        65536,
        2**31,
        -(2**31) - 1,
        2**53 + 1,
        2**63 - 1,
        2**63,
        2**64 - 1,
        0.5,
        1e308,
        -0.0,
    ),
    *("", " ", ".", "..", "/", "a/b", "a" * 300, "A_B", "é", "\x00", "\n", "\u202e", "💥", "%s", "{}", "$(x)", "null"),
    *("1e9999", "9" * 400, "0.0000000000001", "-1", "1Ei", "-0m", "1.2.3.4/33", "::1", "::/0", "1970-01-01T00:00:00Z"),
    *("0000-00-00T00:00:00Z", "9999-12-31T23:59:60Z", "* * * * *", "TZ=x * * * * *", "(a+)+$", "[[:alpha:]", "AAAA="),
    *([], {}, [None], [[]], [{}], [1, "a"], {"": None}, {"a": None}, {"a": {"b": []}}, {"$patch": "replace"}),
    *({"$patch": "delete", "name": "a"}, {"$retainKeys": ["x"]}, {"$setElementOrder/containers": [{}]}),
    *({"$deleteFromPrimitiveList/finalizers": ["x"]}, {"matchExpressions": [{"key": "a", "operator": "In"}]}),
)

_HOSTILE_BY_TYPE = {of: tuple(value for value in HOSTILE if type(value) is of) for of in (bool, int, str, list, dict)}


def damaged(tree: Any, chance: Random, times: int) -> Any:
    """A copy of the tree with so many things wrong with it."""
    copy = orjson.loads(orjson.dumps(tree))
    for _ in range(times):
        places = list(_places(copy))
        if not places:
            return chance.choice(HOSTILE)
        holder, key = chance.choice(places)
        chance.choice(_TREE_DAMAGES)(holder, key, chance, places)
    return copy


def damaged_bytes(text: bytes, chance: Random) -> bytes:
    """The text with a few bytes changed, lost, repeated or added."""
    content = bytearray(text)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(content) + 1)
        width = chance.choice((1, 2, 8, 64))
        match chance.randrange(5):
            case 0:
                content[at : at + 1] = bytes([chance.randrange(256)])
            case 1:
                del content[at : at + width]
            case 2:
                content[at:at] = content[at : at + width]
            case 3:
                del content[at:]
            case 4:
                content[at:at] = chance.choice(_FRAGMENTS)
    return bytes(content)


_FRAGMENTS = (
    *(
        b"{",
        b"}",
        b"[",
        b"]",
        b'"',
        b",",
        b":",
        b"\\",
        b"\\u",
        b"\\ud800",
        b"\xff",
        b"\xc0\x80",
        b"\x00",
        b"NaN",
        b"1e400",
    ),
    *(
        b"- ",
        b"&a ",
        b"*a",
        b"!!binary ",
        b"%YAML 9\n",
        b"---\n",
        b"\t",
        b"9" * 400,
        b"0x",
        b"[" * 2000,
        b'{"a":' * 2000,
    ),
)


def _places(tree: Any) -> Iterator[tuple[Any, Any]]:
    """Every holder with every key in it."""
    waiting = [tree]
    while waiting:
        holder = waiting.pop()
        if isinstance(holder, dict):
            for key, value in holder.items():
                yield holder, key
                waiting.append(value)
        elif isinstance(holder, list):
            for key, value in enumerate(holder):
                yield holder, key
                waiting.append(value)


TreeDamage = Callable[[Any, Any, Random, list[tuple[Any, Any]]], None]


def _replace(holder: Any, key: Any, chance: Random, _: list[tuple[Any, Any]]) -> None:
    if not _has(holder, key):
        return
    # What has the right type gets further.
    alike = _HOSTILE_BY_TYPE.get(type(holder[key])) if chance.random() < 0.7 else None
    # A copy, for what is put into one tree may be damaged next.
    holder[key] = orjson.loads(orjson.dumps(chance.choice(alike or HOSTILE)))


def _remove(holder: Any, key: Any, *_: Any) -> None:
    if _has(holder, key):
        del holder[key]


def _wrap(holder: Any, key: Any, chance: Random, _: Any) -> None:
    if _has(holder, key):
        holder[key] = [holder[key]] if chance.random() < 0.5 else {"a": holder[key]}


def _repeat(holder: Any, key: Any, chance: Random, _: Any) -> None:
    if isinstance(holder, list) and _has(holder, key):
        holder += [holder[key]] * chance.choice((1, 1, 2, 30))


def _rename(holder: Any, key: Any, chance: Random, _: Any) -> None:
    if isinstance(holder, dict) and _has(holder, key):
        holder[chance.choice((key.upper(), key + "x", "", "a/b", "é", "x" * 300))] = holder.pop(key)


def _transplant(holder: Any, key: Any, chance: Random, places: list[tuple[Any, Any]]) -> None:
    source, name = chance.choice(places)
    if _has(holder, key) and _has(source, name):
        holder[key] = orjson.loads(orjson.dumps(source[name]))


def _has(holder: Any, key: Any) -> bool:
    return key in holder if isinstance(holder, dict) else key < len(holder)


_TREE_DAMAGES: tuple[TreeDamage, ...] = (_replace, _replace, _replace, _remove, _wrap, _repeat, _rename, _transplant)
