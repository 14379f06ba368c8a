"""Expressions over everything the engine knows, and what cel-go says to each with kube-apiserver v1.37's libraries.

They are in `corpus.jsonl`, a line each: the expression, which variables it is evaluated with, and the answer. Where
ours is another on purpose, `differs` says why. `tests/interop/record_cel.py` asks cel-go again and rewrites them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from hardpoint.machinery import cel

Json = dict[str, Any]

FILE = Path(__file__).with_name("corpus.jsonl")


@dataclass(frozen=True)
class Variables:
    types: dict[str, str]
    values: dict[str, Any]

    def complete(self) -> dict[str, Any]:
        """The values, and those that JSON cannot hold; the program that asks cel-go makes up the same."""
        return {**self.values, **{name: _MADE_UP[type] for name, type in self.types.items() if type in _MADE_UP}}


def _repeat(check: cel.Check) -> cel.Decision:
    """Allows to get, fails to fail, and repeats every question as its reason."""
    asked = (check.verb, check.path, check.group, check.resource, check.subresource, check.namespace, check.name)
    reason = " ".join((*asked, check.user) if check.user else asked)
    return cel.Decision(check.verb == "get", reason, "nobody answers" if check.verb == "fail" else "")


_DEPLOYMENT = cel.Check(group="apps", resource="deployments", subresource="scale", namespace="shop", name="web")
_MADE_UP = {"authorizer": cel.Authorizer(_repeat), "resourceCheck": cel.ResourceCheck(_repeat, _DEPLOYMENT)}


VARIABLES = {
    "authorizer": Variables({"authorizer": "authorizer", "authorizer.requestResource": "resourceCheck"}, {}),
    "nothing": Variables({}, {}),
    "map": Variables(
        {"r": "map(string, dyn)"},
        {
            "r": {
                "a": 5,
                "s": "hello",
                "l": [1, 2, 3],
                "ls": ["b", "a", "c"],
                "m": {"x": 1, "y": {"z": "deep"}},
                "b": True,
                "f": 1.5,
                "n": None,
                "e": "",
                "el": [],
                "big": "x" * 100,
            }
        },
    ),
    "object": Variables(
        {
            "o": "Obj{name: string, count: int, ratio: double, tags: list(string), labels: map(string, string),"
            " on: bool, inner: Inner{x: int, ys: list(int)}, items: list(Item{k: string, v: int})}"
        },
        {
            "o": {
                "name": "web-0",
                "count": 3,
                "ratio": 0.5,
                "tags": ["a", "b", "a"],
                "labels": {"app": "web", "tier": "front"},
                "on": True,
                "inner": {"x": 7, "ys": [3, 1, 2]},
                "items": [{"k": "one", "v": 1}, {"k": "two", "v": 2}],
            }
        },
    ),
}


@dataclass(frozen=True)
class Case:
    expression: str
    variables: Variables
    answer: Json
    differs: str = ""


def cases() -> list[Case]:
    found = [orjson.loads(line) for line in FILE.read_bytes().splitlines()]
    return [
        Case(each["expression"], VARIABLES[each["with"]], each["answer"], each.get("differs", "")) for each in found
    ]
