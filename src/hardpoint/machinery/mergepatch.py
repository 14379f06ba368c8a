"""JSON merge patch, RFC 7396: what `application/merge-patch+json` does.

One thing goes beyond the RFC, as upstream does: nulls vanish from objects inside the lists of a patch too, unless the
list takes the place of an object.
Nothing here recurses, since bodies may be deeper than Python's stack.
"""

from __future__ import annotations

from typing import Any


def merge(target: Any, patch: Any) -> Any:
    """`target` with `patch` applied. Neither is changed, and the result may share parts with `target`.

    A null in the patch removes its key, an object is merged into the object there, anything else replaces.
    """
    if not isinstance(patch, dict):
        return _without_nulls(patch)
    merged = dict(target) if isinstance(target, dict) else {}
    waiting = [(merged, patch)]
    while waiting:
        into, change = waiting.pop()
        for key, value in change.items():
            old = into.get(key)
            if value is None:
                into.pop(key, None)
            elif isinstance(value, dict):
                new = into[key] = dict(old) if isinstance(old, dict) else {}
                waiting.append((new, value))
            else:
                into[key] = value if isinstance(old, dict) else _without_nulls(value)
    return merged


def difference(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """The smallest patch that turns `old` into `new`. A null inside `new` cannot be told in this language."""
    whole: dict[str, Any] = {}
    waiting = [(old, new, whole)]
    while waiting:
        before, after, patch = waiting.pop()
        patch.update(dict.fromkeys(key for key in before if key not in after))
        for key, value in after.items():
            if key in before and isinstance(before[key], dict) and isinstance(value, dict):
                if before[key] != value:
                    patch[key] = {}
                    waiting.append((before[key], value, patch[key]))
            elif key not in before or before[key] != value:
                patch[key] = value
    return whole


def _without_nulls(value: Any) -> Any:
    """A copy of a list in which the objects have lost their nulls; anything else as it is."""
    if not isinstance(value, list):
        return value
    root: list[Any] = [value]
    waiting: list[Any] = [(root, 0)]
    while waiting:
        holder, place = waiting.pop()
        found = holder[place]
        if isinstance(found, list):
            kept: Any = list(found)
            waiting += [(kept, index) for index, item in enumerate(kept) if isinstance(item, dict | list)]
        else:
            kept = {key: item for key, item in found.items() if item is not None}
            waiting += [(kept, key) for key, item in kept.items() if isinstance(item, dict | list)]
        holder[place] = kept
    return root[0]
