"""Expressions over variables whose sizes are limited, and what cel-go says they may cost at least and at most.

They are in `estimates.jsonl`, a line each: the expression, over which schema, and the answer.
`tests/interop/record_cel.py` asks cel-go again and rewrites them; a line without an answer is a new expression.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import orjson

FILE = Path(__file__).with_name("estimates.jsonl")

_ITEM = "Item{k: string[9], v: int, tags: list[4](string[5]), m: map[3](string[40], list[5](string[6]))}"
_LABELS = "map[6](string[7], string[80])"


@dataclass(frozen=True)
class Schema:
    """Which variables there are, and of which type each of them is."""

    variables: tuple[str, ...]
    type: str


SCHEMAS = {
    "authorizer": Schema(("authorizer",), "authorizer"),
    "deep": Schema(
        ("self", "oldSelf"),
        "Obj{name: string[63], any: dyn[33], b: bytes[100], d: duration, t: timestamp, opt: string,"
        " nest: list[8](list[9](string[10])), spec: Spec{labels: map[5](string[40], string[50]),"
        f" sel: Sel{{labels: {_LABELS}, more: More{{l: {_LABELS}, ll: list[3](string[4]),"
        f" deeper: D{{l: {_LABELS}}}}}}}, items: list[100]({_ITEM})}}}}",
    ),
    "items": Schema(("self", "oldSelf"), f"Obj{{name: string[63], m: {_LABELS}, items: list[100]({_ITEM})}}"),
    "object": Schema(
        ("o",),
        "Obj{name: string[63], count: int, ratio: double, tags: list[10](string[20]),"
        " labels: map[5](string[40], string[50]), on: bool, inner: Inner{x: int, ys: list[30](int)},"
        " items: list[100](Item{k: string[9], v: int})}",
    ),
}


@dataclass(frozen=True)
class Case:
    expression: str
    schema: Schema
    cost_min: int
    cost_max: int


def cases() -> list[Case]:
    found = [orjson.loads(line) for line in FILE.read_bytes().splitlines()]
    return [Case(each["expression"], SCHEMAS[each["with"]], *each["estimate"]) for each in found]
