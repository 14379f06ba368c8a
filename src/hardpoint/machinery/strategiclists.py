"""How a strategic merge patch merges two lists: which elements meet, which go, and in which order the rest stands.

Elements are found by what `_identity` says of them: maps by their merge key, scalars by themselves. Looking up is by
hash, so long lists cost no more than their length.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from hardpoint.machinery.errors import HardpointError

Json = dict[str, Any]
Identity = tuple[type, Any]

_GO_TYPES: dict[type, str] = {
    dict: "map[string]interface {}",
    list: "[]interface {}",
    str: "string",
    bool: "bool",
    int: "int64",
    float: "float64",
    type(None): "%!s(<nil>)",
}


class BadPatch(HardpointError):
    """A patch that breaks the rules of strategic merge patches, or does not fit the schema."""


class Unmergeable(BadPatch):
    """What the patch asks for cannot be done to any list."""


def merge(
    original: list[Any], patch: list[Any], merge_key: str, merge_elements: Callable[[Json, Json], Json]
) -> list[Any]:
    """Both lists merged: the patch's elements in the patch's order, the others where they were among them."""
    if not original and not patch:
        return original
    if _element_type(original, patch) is not dict:
        merged = [value for _, value in _first_of_each(original + patch, merge_key)]
        return _arranged(merged, patch, original, merge_key)
    if not merge_key:
        raise BadPatch("cannot merge lists without merge key for struct")
    original, patch = _directed(original, patch, merge_key)
    return _arranged(_merged_maps(original, patch, merge_key, merge_elements), patch, original, merge_key)


def without(values: list[Any], removed: list[Any]) -> list[Any]:
    """`values` less everything in `removed`."""
    if values or removed:
        _element_type(values, removed)
    gone = {_identity(value, "") for value in removed}
    return [value for value in values if _identity(value, "") not in gone]


def check_order(patch: list[Any], order: list[Any], merge_key: str) -> None:
    """The elements of a patch must stand in the order that its own `$setElementOrder` tells."""
    if not order or not patch:
        return
    elements = [each for each in patch if not _deletes(_map(each))] if merge_key else patch
    reached = 0
    for told in order:
        # An element that is a directive has no place in the order, and uses none up.
        while reached < len(elements) and isinstance(elements[reached], dict) and "$patch" in elements[reached]:
            reached += 1
        if reached == len(elements):
            return
        if _identity(elements[reached], merge_key) == _identity(told, merge_key):
            reached += 1
    if reached < len(elements):
        raise BadPatch(
            f"The order in patch list:\n{go_text(patch)}\n doesn't match $setElementOrder list:\n{go_text(order)}\n"
        )


def ordered(merged: list[Any], original: list[Any], patch: list[Any], order: list[Any], merge_key: str) -> list[Any]:
    """`merged` in the order of a `$setElementOrder`; what that does not name stays where `original` had it."""
    if _element_type(original, patch) is dict and merge_key:
        original = _with_gaps_filled(original, patch, merge_key)
    return _arranged(merged, order, original, merge_key)


def _with_gaps_filled(original: list[Any], patch: list[Any], merge_key: str) -> list[Any]:
    """The order that upstream goes by: there, a new element takes over the room of a deleted one."""
    deleted = {_identity(element, merge_key) for element in patch if _deletes(element)}
    kept = [element for element in original if _lookup_identity(element, merge_key) not in deleted]
    if len(kept) == len(original):
        return original
    known = _places(kept, merge_key)
    added = [element for element in patch if "$patch" not in element and _identity(element, merge_key) not in known]
    return (kept + added)[: len(original)]


def _directed(original: list[Any], patch: list[Any], merge_key: str) -> tuple[list[Any], list[Any]]:
    """Both lists once the elements of the patch that are directives have been obeyed."""
    plain: list[Any] = []
    deleted: set[Identity] = set()
    replaces = False
    for element in patch:
        if "$patch" not in element:
            plain.append(element)
        elif element["$patch"] == "delete":
            deleted.add(_identity(element, merge_key))
        elif element["$patch"] == "replace":
            replaces = True
        elif element["$patch"] == "merge":
            raise BadPatch("merging lists cannot yet be specified in the patch")
        else:
            raise BadPatch(f"unknown patch type: {go_text(element['$patch'])} in map: {go_text(element)}")
    if replaces:
        return plain, []
    kept = [element for element in original if _lookup_identity(element, merge_key) not in deleted]
    return kept, plain


def _merged_maps(
    original: list[Any], patch: list[Any], merge_key: str, merge_elements: Callable[[Json, Json], Json]
) -> list[Any]:
    merged = list(original)
    places: dict[Identity | None, int] = {}
    for place, element in enumerate(merged):
        places.setdefault(_lookup_identity(element, merge_key), place)
    for element in patch:
        identity = _identity(element, merge_key)
        if identity in places:
            merged[places[identity]] = merge_elements(merged[places[identity]], element)
        else:
            places[identity] = len(merged)
            merged.append(element)
    return merged


def _arranged(merged: list[Any], patch_order: list[Any], server_order: list[Any], merge_key: str) -> list[Any]:
    """The elements in `patch_order` follow it; the others come before the first of them that they preceded before."""
    wanted = _places(patch_order, merge_key)
    before = _places(server_order, merge_key)
    identities = [(_identity(element, merge_key), element) for element in merged]
    named = sorted((pair for pair in identities if pair[0] in wanted), key=lambda pair: wanted[pair[0]])
    others = sorted((pair for pair in identities if pair[0] not in wanted), key=lambda pair: before.get(pair[0], -1))
    result = []
    at = 0
    for identity, element in others:
        place = before.get(identity)
        while at < len(named) and (place is None or before.get(named[at][0], -1) <= place):
            result.append(named[at][1])
            at += 1
        result.append(element)
    return result + [element for _, element in named[at:]]


def _places(elements: list[Any], merge_key: str) -> dict[Identity, int]:
    places: dict[Identity, int] = {}
    for place, element in enumerate(elements):
        places.setdefault(_identity(element, merge_key), place)
    return places


def _first_of_each(elements: list[Any], merge_key: str) -> Iterable[tuple[Identity, Any]]:
    unique: dict[Identity, Any] = {}
    for element in elements:
        unique.setdefault(_identity(element, merge_key), element)
    return unique.items()


def _identity(element: Any, merge_key: str) -> Identity:
    """What makes two elements the same. The type is part of it: 1 and true are different values in JSON."""
    value = element
    if merge_key:
        if merge_key not in _map(element):
            raise BadPatch(f"map: {go_text(element)} does not contain declared merge key: {merge_key}")
        value = element[merge_key]
    if isinstance(value, dict | list):
        raise BadPatch(f"a list cannot be merged by {go_text(value)}, which is not a scalar")
    return type(value), value


def _lookup_identity(element: Any, merge_key: str) -> Identity | None:
    """The identity of an element of the original, which may lack its key as long as nobody asks for its place."""
    return _identity(element, merge_key) if merge_key in element else None


def _deletes(element: Json) -> bool:
    return element.get("$patch") == "delete"


def _map(element: Any) -> Json:
    if not isinstance(element, dict):
        raise BadPatch(f"expected a map[string]interface {{}}, but received a {go_type(element)}")
    return element


def _element_type(*lists: list[Any]) -> type:
    found: type | None = None
    for element in (element for elements in lists for element in elements):
        if found is None:
            found = type(element)
            if found is list:
                raise Unmergeable("lists of lists are not supported")
        elif type(element) is not found:
            raise BadPatch(f"list element types are not identical: {go_text(list(lists))}")
    if found is None:
        raise BadPatch("no elements in any of the given slices")
    return found


def go_type(value: Any) -> str:
    """The type of a JSON value as Go's reflection prints it."""
    return _GO_TYPES.get(type(value), type(value).__name__)


def go_text(value: Any) -> str:
    """A JSON value as Go's %v prints it."""
    if isinstance(value, dict):
        return f"map[{' '.join(f'{name}:{go_text(item)}' for name, item in sorted(value.items()))}]"
    if isinstance(value, list):
        return f"[{' '.join(map(go_text, value))}]"
    if isinstance(value, bool):
        return "true" if value else "false"
    return "<nil>" if value is None else str(value)
