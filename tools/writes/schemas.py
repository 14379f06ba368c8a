"""Custom resources that nobody wrote: a number becomes a definition, and with it how its objects are drawn.

Every kind of list and map that the API knows occurs in some of them, with and without defaults, in one version or two.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import orjson

from tools.writes.drawing import Dice, Draw, either, fields, many, named, one
from tools.writes.kind import Written

GROUP = "writes.example.com"
Described = tuple[dict[str, Any], Draw]
"""A schema, and what draws values that mostly fit it."""

_any = either(
    one(1, "s", True, None, [], {}, [1, {"x": 2}], 2.5),
    named(("p", "q", "r"), one(1, "s", None, [], {}, {"deep": {"er": 1}}, [1, 2], [{"a": 1}])),
)


def custom(number: int) -> Written:
    """The custom resource of this number. Its name changes with its schema, so that servers may keep the old ones."""
    dice = Dice(f"schema {number}")
    served = {"v1": _root(dice)} if dice.hits(0.6) else dict(zip(("v1", "v2"), _roots(dice), strict=True))
    has_status, has_scale = dice.hits(0.7), dice.hits(0.4)
    stored = dice.choice(list(served))
    versions = [
        _version(name, schema, name == stored, has_status, has_scale) for name, (schema, _, _) in served.items()
    ]
    mark = hashlib.sha256(orjson.dumps(versions)).hexdigest()[:8]
    kind, plural = f"Thing{number}x{mark}", f"thing{number}x{mark}s"
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {"plural": plural, "singular": kind.lower(), "kind": kind},
            "versions": versions,
        },
    }
    return Written(
        plural,
        kind,
        {f"{GROUP}/{name}": body for name, (_, body, _) in served.items()},
        {f"{GROUP}/{name}": status for name, (_, _, status) in served.items()} if has_status else {},
        has_scale=has_scale,
        definition=definition,
    )


def _version(name: str, schema: dict[str, Any], is_stored: bool, has_status: bool, has_scale: bool) -> dict[str, Any]:
    subresources: dict[str, Any] = {"status": {}} if has_status else {}
    if has_scale:
        subresources["scale"] = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}
    return {
        "name": name,
        "served": True,
        "storage": is_stored,
        "schema": {"openAPIV3Schema": schema},
        "subresources": subresources,
    }


def _root(dice: Dice) -> tuple[dict[str, Any], Draw, Draw]:
    return _assembled(_object(dice, 3), _object(dice, 1))


def _roots(dice: Dice) -> list[tuple[dict[str, Any], Draw, Draw]]:
    """Two versions with the same fields and other defaults.

    Fields that only one of them has are no good here: kube-apiserver then loses track of who manages what.
    """
    state = dice.getstate()
    first = _root(dice)
    dice.setstate(state)
    schema, body, status = _root(dice)
    _change_defaults(schema)
    return [first, (schema, body, status)]


def _change_defaults(schema: dict[str, Any]) -> None:
    changed = {"b": "c", 2: 3, 1.5: 2.5}
    if isinstance(schema.get("default"), str | int | float) and schema["default"] is not True:
        schema["default"] = changed.get(schema["default"], schema["default"])
    for below in (schema.get("properties") or {}).values():
        _change_defaults(below)


def _both(one_: Draw, other: Draw) -> Draw:
    def draw(dice: Dice) -> Any:
        first, second = one_(dice), other(dice)
        return {**first, **second} if isinstance(first, dict) and isinstance(second, dict) else first

    return draw


def _assembled(spec: Described, status: Described) -> tuple[dict[str, Any], Draw, Draw]:
    replicas = {"type": "integer", "minimum": 0}
    for schema, _ in (spec, status):
        schema.setdefault("properties", {})["replicas"] = replicas
    counted = fields(None, None, {"replicas": one(0, 1, 2, 3)})
    schema = {"type": "object", "properties": {"spec": spec[0], "status": status[0]}}
    return schema, fields(None, {"spec": _both(spec[1], counted)}), _both(status[1], counted)


def _any_schema(dice: Dice, depth: int) -> Described:
    """A schema of any sort; below a depth only scalars."""
    sorts = _SCALARS + (_NESTED if depth > 0 else ())
    schema, draw = dice.choice(sorts)(dice, depth)
    if dice.hits(0.12) and "x-kubernetes-int-or-string" not in schema:
        return {**schema, "nullable": True}, either(draw, draw, one(None))
    return schema, draw


def _string(dice: Dice, depth: int) -> Described:
    schema: dict[str, Any] = {"type": "string"}
    if dice.hits(0.2):
        schema["enum"] = ["a", "b", "c"]
    elif dice.hits(0.2):
        schema["maxLength"] = 3
    elif dice.hits(0.2):
        schema["pattern"] = "^[a-z]*$"
    if dice.hits(0.3):
        schema["default"] = "b"
    return schema, one("a", "b", "c", "a", "long", "A1")


def _integer(dice: Dice, depth: int) -> Described:
    schema: dict[str, Any] = {"type": "integer"}
    if dice.hits(0.3):
        schema["default"] = 2
    if dice.hits(0.3):
        schema["maximum"] = 5
    if dice.hits(0.2):
        schema["format"] = dice.choice(("int32", "int64"))
    return schema, one(1, 2, 3, 9, 1, 2)


def _number(dice: Dice, depth: int) -> Described:
    return {"type": "number", **({"default": 1.5} if dice.hits(0.3) else {})}, one(1, 1.5, 2, 1e3)


def _boolean(dice: Dice, depth: int) -> Described:
    return {"type": "boolean", **({"default": True} if dice.hits(0.3) else {})}, one(True, False)


def _int_or_string(dice: Dice, depth: int) -> Described:
    return {"x-kubernetes-int-or-string": True}, one(1, "1", "50%", 2)


def _anything(dice: Dice, depth: int) -> Described:
    return {"x-kubernetes-preserve-unknown-fields": True}, _any


def _object(dice: Dice, depth: int) -> Described:
    properties, draws = {}, {}
    for name in dice.sample(("one", "two", "three", "four", "five", "six"), dice.randint(1, 3 + depth)):
        properties[name], draws[name] = _any_schema(dice, depth - 1)
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    if dice.hits(0.15):
        schema["x-kubernetes-map-type"] = dice.choice(("atomic", "granular"))
    required: dict[str, Draw] = {}
    if dice.hits(0.25):
        name = dice.choice(sorted(properties))
        schema["required"] = [name]
        required[name] = draws.pop(name)
    drawn = fields(None, required, draws, 0.45)
    if dice.hits(0.2):
        schema["x-kubernetes-preserve-unknown-fields"] = True
        drawn = _both(drawn, named(("p", "q"), _any))
    if dice.hits(0.15) and not required:
        schema["default"] = {}
    return schema, drawn


def _map(dice: Dice, depth: int) -> Described:
    below, draw = _any_schema(dice, depth - 1)
    schema = {"type": "object", "additionalProperties": below}
    if dice.hits(0.3):
        schema["x-kubernetes-map-type"] = dice.choice(("atomic", "granular"))
    return schema, named(("k1", "k2", "k3"), draw)


def _free(dice: Dice, depth: int) -> Described:
    return {"type": "object", "x-kubernetes-preserve-unknown-fields": True}, named(("p", "q", "r"), _any)


def _embedded(dice: Dice, depth: int) -> Described:
    schema = {"type": "object", "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True}
    metadata = fields(None, {"name": one("n1", "n2")}, {"labels": named(("l1", "l2"), one("a", "b"))})
    draw = fields(
        {"apiVersion": one("v1"), "kind": one("Pod", "Other")},
        {"metadata": metadata},
        {"spec": one({"x": 1}, {"y": []})},
    )
    return schema, draw


def _list(dice: Dice, depth: int) -> Described:
    below, draw = _any_schema(dice, depth - 1)
    schema: dict[str, Any] = {"type": "array", "items": below}
    if dice.hits(0.4):
        schema["x-kubernetes-list-type"] = "atomic"
    if dice.hits(0.2):
        schema["maxItems"] = 2
    return schema, many(draw, 3)


def _set(dice: Dice, depth: int) -> Described:
    sort = dice.choice((_string, _integer, _number, _boolean))
    below, draw = sort(dice, 0)
    below.pop("default", None)
    return {"type": "array", "items": below, "x-kubernetes-list-type": "set"}, many(draw, 4)


def _list_map(dice: Dice, depth: int) -> Described:
    """Items with one to three keys, of which those after the first may have a default and are then often left out."""
    item: dict[str, Any] = {}
    draws: dict[str, Draw] = {}
    for name in dice.sample(("one", "two", "three"), dice.randint(0, 3)):
        item[name], draws[name] = _any_schema(dice, depth - 1)
    keys: dict[str, Draw] = {"name": one("n1", "n2", "n3", "n1")}
    item["name"] = {"type": "string"}
    required = ["name"]
    if dice.hits(0.4):
        item["port"] = {"type": "integer"}
        keys["port"] = one(80, 81)
        required.append("port")
    if dice.hits(0.5):
        item["proto"] = {"type": "string", "default": "TCP"}
        draws["proto"] = one("TCP", "UDP")
    names = [name for name in ("name", "port", "proto") if name in item]
    schema = {
        "type": "array",
        "items": {"type": "object", "properties": item, "required": required},
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": names,
    }
    return schema, many(fields(keys, None, draws, 0.5), 4, key=names)


_SCALARS: tuple[Callable[[Dice, int], Described], ...] = (_string, _integer, _string, _int_or_string, _number, _boolean)
_NESTED = (_object, _map, _free, _embedded, _list, _set, _list_map, _list_map, _set, _object, _anything)
