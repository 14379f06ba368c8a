"""What a schema leaves of a value: fields it does not know go, and so does null where null is not allowed.

Pruners are all about speed: they copy what they look into, know no paths and only mark that something was strange.
`unknown.py` walks the same value again to tell what it was. Follows apiextensions' schema/pruning and prunenulls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from hardpoint.machinery.jsonnumbers import number
from hardpoint.machinery.shapes.refusals import TypeMismatch
from hardpoint.machinery.structural import embedded
from hardpoint.machinery.structural.keywords import EMBEDDED, PRESERVE, RESOURCE_FIELDS

Json = dict[str, Any]
Pruner = Callable[[Any, list[str]], Any]
"""From a value to a copy without what does not belong; every unknown field leaves a mark in the list."""

DEPTH_MAX = 200
TOO_DEEP = "exceeded max depth"


def pruner(schema: Json | None, *, lenient: bool = False, resource: bool = False) -> Pruner:
    """The pruner of a schema; None knows nothing, so nothing is left of an object.

    A `lenient` one keeps unknown fields, as lists do whose schema says `x-kubernetes-preserve-unknown-fields`, down to
    the next field with a schema of its own. A `resource` is a whole object: its metadata is somebody else's business.
    """
    if schema is None:
        return _nothing
    prune = _pruner(schema, lenient=lenient or bool(schema.get(PRESERVE)), resource=resource)
    return _embedding(prune) if schema.get(EMBEDDED) and not resource else prune


def _pruner(schema: Json, *, lenient: bool, resource: bool) -> Pruner:
    properties: Json = schema.get("properties") or {}
    known: dict[str, Pruner] = {}
    for name, child in properties.items():
        known[name] = _compiled_later(known, name, child)
    if resource or schema.get(EMBEDDED):
        known |= dict.fromkeys(RESOURCE_FIELDS, _as_it_is)
    additional = schema.get("additionalProperties")
    other: Pruner | None = _as_it_is if lenient else None
    if additional is not None and additional is not False:
        other = _compiled_once(additional if isinstance(additional, dict) else None)
    dropping = frozenset(name for name, child in properties.items() if _drops_null(child))
    drops_other = isinstance(additional, dict) and _drops_null(additional)
    prune_item = _items(schema.get("items"), lenient=lenient)

    def prune(value: Any, strange: list[str]) -> Any:
        if value.__class__ is dict:
            left: Json = {}
            for key, item in value.items():
                action = known.get(key, other)
                if action is None:
                    strange.append(key)
                elif item.__class__ is str:
                    left[key] = item
                elif item is not None:
                    left[key] = action(item, strange)
                elif key not in dropping and not (drops_other and key not in known):
                    left[key] = None
            return left
        if value.__class__ is list:
            return [prune_item(item, strange) for item in value]
        return number(value) if value.__class__ is float or value.__class__ is int else value

    return prune


def _items(schema: Json | None, *, lenient: bool) -> Pruner:
    if schema is None:
        return _as_it_is if lenient else _nothing
    return _compiled_once(schema, lenient=lenient)


def _compiled_later(known: dict[str, Pruner], name: str, schema: Json) -> Pruner:
    """A pruner that replaces itself in `known` on its first call: most fields of large schemas are never used."""

    def compile_now(value: Any, strange: list[str]) -> Any:
        known[name] = prune = pruner(schema)
        return prune(value, strange)

    return compile_now


def _compiled_once(schema: Json | None, *, lenient: bool = False) -> Pruner:
    made: list[Pruner] = []

    def compile_first(value: Any, strange: list[str]) -> Any:
        if not made:
            made.append(pruner(schema, lenient=lenient))
        return made[0](value, strange)

    return compile_first


def _embedding(prune: Pruner) -> Pruner:
    """As `prune`, for an object inside another: its metadata is decoded, too. Raises TypeMismatch."""

    def prune_and_coerce(value: Any, strange: list[str]) -> Any:
        left = prune(value, strange)
        if left.__class__ is dict:
            embedded.coerce(left, strange)
        return left

    return prune_and_coerce


def _drops_null(schema: Json) -> bool:
    return not schema.get("nullable") and schema.get("default") is None


def _as_it_is(value: Any, _: list[str]) -> Any:
    """What has no schema stays, if it does not nest deeper than those who will have to walk it can."""
    level, depth = [value], 0
    while level := [item for part in level for item in _parts(part)]:
        depth += 1
        if depth > DEPTH_MAX:
            raise TypeMismatch(TOO_DEEP)
    return value


def _parts(value: Any) -> Iterable[Any]:
    if value.__class__ is dict:
        return value.values()
    return value if value.__class__ is list else ()


def _nothing(value: Any, strange: list[str]) -> Any:
    """Scalars and the lists around them are left of a value without a schema."""
    if value.__class__ is dict:
        strange.extend(value)
        return {}
    return [_nothing(item, strange) for item in value] if value.__class__ is list else value
