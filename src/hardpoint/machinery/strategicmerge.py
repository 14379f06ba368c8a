"""Strategic merge patch: a merge patch in which the schema says how each list is merged.

Lists with the strategy `merge` are merged element by element, found by their merge key or, for scalars, by value; all
others are replaced. Directives in the patch steer the rest:

- `$patch: replace | delete` in a map; `$patch: delete | replace` in an element of a list of maps,
- `$deleteFromPrimitiveList/<field>` takes values out of a list of scalars,
- `$setElementOrder/<field>` tells the order of the result,
- `$retainKeys` drops every key it does not name.

Follows k8s.io/apimachinery/pkg/util/strategicpatch; the merging of lists is in `strategiclists`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from hardpoint.machinery import strategiclists
from hardpoint.machinery.fielderrors import quote
from hardpoint.machinery.strategiclists import BadPatch, Unmergeable, go_text, go_type

__all__ = ["BadPatch", "Field", "Schema", "Unmergeable", "merge"]

Json = dict[str, Any]

_PATCH = "$patch"
_RETAIN_KEYS = "$retainKeys"
_DELETE = "$deleteFromPrimitiveList"
_ORDER = "$setElementOrder"

_BAD_DELETE = "invalid patch format of primitive list"
_BAD_ORDER = "invalid patch format of setElementOrder list"
_BAD_RETAIN_KEYS = "invalid patch format of retainKeys"


class Field(Protocol):
    """What the schema knows about one field."""

    @property
    def patch_strategy(self) -> str:
        """`merge`, `replace`, `retainKeys`, two of them with a comma between, or ""."""
        ...

    @property
    def merge_key(self) -> str: ...

    @property
    def is_list(self) -> bool: ...

    @property
    def is_map(self) -> bool: ...

    @property
    def element(self) -> Schema | None:
        """The schema of the value, of a list's items or of a map's values; None for scalars."""
        ...


class Schema(Protocol):
    """The schema of one type."""

    @property
    def name(self) -> str: ...

    @property
    def fields(self) -> Mapping[str, Field]: ...


def merge(original: Json, patch: Json, schema: Schema) -> Json:
    """`original` with `patch` applied. Raises BadPatch; changes neither, and may share parts with both."""
    try:
        return _merge_map(original, patch, schema)
    except RecursionError:
        raise BadPatch("exceeded max depth") from None


def _merge_map(original: Json, patch: Json, schema: Schema | None) -> Json:
    if _PATCH in patch:
        return _directed(patch)
    merged = dict(original)
    rest = dict(patch)
    if _RETAIN_KEYS in rest:
        _retain_keys(merged, rest, rest.pop(_RETAIN_KEYS))
    for name in [name for name in rest if name.startswith(_ORDER)]:
        _merge_ordered(merged, rest, name, schema)
    for name, value in rest.items():
        removes = name.startswith(_DELETE)
        _merge_field(merged, _after(name, _DELETE, _BAD_DELETE) if removes else name, value, schema, removes)
    return merged


def _directed(patch: Json) -> Json:
    directive = patch[_PATCH]
    if directive == "replace":
        return {name: value for name, value in patch.items() if name != _PATCH}
    if directive == "delete":
        return {}
    raise BadPatch(f"unknown patch type: {go_text(directive)} in map: {go_text(patch)}")


def _after(name: str, prefix: str, complaint: str) -> str:
    before, slash, field = name.partition("/")
    if not slash or before != prefix:
        raise BadPatch(complaint)
    return field


def _retain_keys(merged: Json, patch: Json, retained: Any) -> None:
    """Drop every other key of the original. The patch itself may only set keys that are retained."""
    if not isinstance(retained, list):
        raise BadPatch(_BAD_RETAIN_KEYS)
    kept = {name for name in retained if isinstance(name, str)}
    for name, value in patch.items():
        if value is not None and name not in kept and not name.startswith((_DELETE, _ORDER)):
            raise BadPatch(_BAD_RETAIN_KEYS)
    for name in [name for name in merged if name not in kept]:
        del merged[name]


def _merge_field(merged: Json, name: str, value: Any, schema: Schema | None, removes: bool) -> None:
    if value is None:
        merged.pop(name, None)
        return
    old: Any = merged.get(name)
    if type(old) is not type(value):
        # What was not there, or was something else, has nothing to merge with.
        if not removes:
            _set(merged, name, _plain(_without_nulls(value)))
    elif isinstance(value, dict):
        field = _field(schema, name)
        if _strategy(field) == "replace":
            merged[name] = value
        else:
            merged[name] = _merge_map(old, value, None if field.is_map else field.element)
    elif isinstance(value, list):
        merged[name] = _merge_list(old, value, _list_field(schema, name), removes)
    else:
        merged[name] = value


def _set(merged: Json, name: str, value: Any) -> None:
    if value is _DROPPED:
        merged.pop(name, None)
    else:
        merged[name] = value


def _merge_list(old: list[Any], patch: list[Any], field: Field, removes: bool) -> list[Any]:
    if removes:
        return strategiclists.without(old, patch)
    if _strategy(field) != "merge":
        return patch

    def merge_elements(original: Json, change: Json) -> Json:
        return _merge_map(original, change, field.element)

    return strategiclists.merge(old, patch, field.merge_key, merge_elements)


def _merge_ordered(merged: Json, patch: Json, directive: str, schema: Schema | None) -> None:
    """Merge the list that a `$setElementOrder` is about, and put it in that order."""
    order = _list(patch.pop(directive))
    name = _after(directive, _ORDER, _BAD_ORDER)
    old = _list(merged[name]) if name in merged else None
    change = _list(patch[name]) if name in patch else None
    field = _list_field(schema, name)
    strategiclists.check_order(change or [], order, field.merge_key)
    if change is not None:
        result = _merge_list(old, change, field, False) if old is not None else _plain(change)
    elif old is not None:
        result = old
    else:
        return
    merged[name] = strategiclists.ordered(result, old or [], change or [], order, field.merge_key)
    patch.pop(name, None)


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise BadPatch(f"expected a []interface {{}}, but received a {go_type(value)}")
    return value


def _field(schema: Schema | None, name: str) -> Field:
    if schema is None:
        raise BadPatch("merging an object in json but data type is not struct, instead is: map")
    field = schema.fields.get(name)
    if field is None:
        type_name = schema.name.rpartition(".")[2]
        raise BadPatch(f"unable to find api field in struct {type_name} for the json field {quote(name)}")
    return field


def _list_field(schema: Schema | None, name: str) -> Field:
    field = _field(schema, name)
    if not field.is_list:
        raise BadPatch("expected slice or array type, but got: struct")
    return field


def _strategy(field: Field) -> str:
    """How values are merged; `retainKeys` is about how patches are made, and says nothing here."""
    strategies = [strategy for strategy in field.patch_strategy.split(",") if strategy != "retainKeys"]
    return strategies[0] if strategies else ""


_DROPPED = object()


def _plain(value: Any) -> Any:
    """A new value without the maps that carry a `$patch`; _DROPPED if it is one of them."""
    if isinstance(value, dict):
        if _PATCH in value:
            return _DROPPED
        plain = ((name, _plain(item)) for name, item in value.items())
        return {name: item for name, item in plain if item is not _DROPPED}
    if isinstance(value, list):
        return [item for item in map(_plain, value) if item is not _DROPPED]
    return value


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nulls(item) for name, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_without_nulls(item) for item in value]
    return value
