from __future__ import annotations

import time
from typing import Any

import pytest

from hardpoint.machinery.jsonpath import BadPath, parse

OBJECT: dict[str, Any] = {
    "spec": {"replicas": 3, "a.b": "dotted", "list": ["x", "y", "z"], "map": {"p": 1, "q": 2}},
    "status": {
        "conditions": [
            {"type": "Ready", "status": "True", "weight": 1},
            {"type": "Synced", "status": "False", "weight": 5},
        ]
    },
}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        (".spec.replicas", [3]),
        ("$.spec.replicas", [3]),
        ("spec.replicas", [3]),
        (".spec.missing", []),
        (".spec.replicas.deeper", []),
        (".", [OBJECT]),
        (r".spec.a\.b", ["dotted"]),
        (".spec['a.b']", ["dotted"]),
        ('.spec["a.b"]', ["dotted"]),
        (".spec.list[0]", ["x"]),
        (".spec.list[-1]", ["z"]),
        (".spec.list[9]", []),
        (".spec.list[*]", ["x", "y", "z"]),
        (".spec.map.*", [1, 2]),
        ('.status.conditions[?(@.type=="Ready")].status', ["True"]),
        (".status.conditions[?(@.type=='Synced')].status", ["False"]),
        ('.status.conditions[?(@.type != "Ready")].type', ["Synced"]),
        (".status.conditions[?(@.weight>2)].type", ["Synced"]),
        (".status.conditions[?(@.weight<=1)].type", ["Ready"]),
        ('.status.conditions[?(@.weight>"x")].type', []),
        (".status.conditions[?(@.weight)].type", ["Ready", "Synced"]),
        (".status.conditions[?(@.other)].type", []),
        ('.spec[?(@.type=="x")]', []),
    ],
)
def test_values_are_found(path: str, found: list[Any]) -> None:
    assert parse(path)(OBJECT) == found


@pytest.mark.parametrize("path", [".a[", ".a[x]", ".a]", "..", "{.a}", ".a[?(@.b==)]", ".a['b"])
def test_what_is_no_path(path: str) -> None:
    with pytest.raises(BadPath):
        parse(path)


@pytest.mark.parametrize("path", ["." + "a" * 200_000 + "]", "[?(@" + ".a" * 50_000, "['" + "\\'" * 100_000])
def test_no_path_is_slow_to_judge(path: str) -> None:
    started = time.process_time()
    with pytest.raises(BadPath):
        parse(path)
    assert time.process_time() - started < 1
