"""JSON patch, RFC 6902, as kube-apiserver's library (evanphx/json-patch v4) applies it.

Where that library is more lenient than the RFC so is this: `replace` adds a missing key, `copy` of a missing key
writes a null, indices may be negative, and the text before a path's first slash is ignored.

The document is copied on write: containers on the way to a change are copied once, everything else is shared with the
original, which stays as it was.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from hardpoint.machinery.errors import HardpointError
from hardpoint.machinery.jsontext import encode

OPERATIONS_MAX = 10_000
COPIED_BYTES_MAX = 3 * 1024 * 1024

_INDEX = re.compile("[+-]?[0-9]{1,18}")
_JSON_TYPES: dict[type, str] = {dict: "object", list: "array", str: "string", bool: "bool", int: "number"}
_TEXTS = ("op", "path", "from")
_MEMBERS = frozenset((*_TEXTS, "value"))
_MISSING = object()


class BadPatch(HardpointError):
    """The patch is no list of operations, or too long a one."""


class PatchFailed(HardpointError):
    """An operation does not apply to this document."""


def apply(document: Any, patch: Any) -> Any:
    """The document with every operation applied in order. Raises BadPatch or PatchFailed; changes neither argument."""
    working = _Document(document)
    for operation in _operations(patch):
        kind = operation.get("op")
        perform = _KINDS.get(kind) if isinstance(kind, str) else None
        if perform is None:
            raise PatchFailed(f"Unexpected kind: {kind if isinstance(kind, str) else 'unknown'}")
        perform(working, operation)
    return working.root


def _operations(patch: Any) -> list[dict[str, Any]]:
    if patch is None:
        return []
    if not isinstance(patch, list):
        raise BadPatch(f"json: cannot unmarshal {_json_type(patch)} into Go value of type []handlers.jsonPatchOp")
    if len(patch) > OPERATIONS_MAX:
        raise BadPatch(f"The allowed maximum operations in a JSON patch is {OPERATIONS_MAX}, got {len(patch)}")
    for operation in patch:
        if operation is not None and not isinstance(operation, dict):
            found = _json_type(operation)
            raise BadPatch(f"json: cannot unmarshal {found} into Go value of type handlers.jsonPatchOp")
        _check_texts(operation or {})
    return [operation or {} for operation in patch]


def _check_texts(operation: dict[str, Any]) -> None:
    for name in _TEXTS:
        text = operation.get(name)
        if not isinstance(text, str | None):
            found = _json_type(text)
            raise BadPatch(f"json: cannot unmarshal {found} into Go struct field jsonPatchOp.{name} of type string")


def unknown_fields(patch: Any) -> list[str]:
    """The members of operations that mean nothing, each as `[number].name`, in order."""
    return [
        f"[{number}].{name}"
        for number, operation in enumerate(_operations(patch))
        for name in operation
        if name not in _MEMBERS
    ]


def _json_type(value: Any) -> str:
    return next((name for type_, name in _JSON_TYPES.items() if isinstance(value, type_)), "number")


class _Document:
    """The document while it is patched. `_owned` are the containers made here, which may be changed in place."""

    def __init__(self, root: Any) -> None:
        self.root = root
        self.copied_bytes = 0
        self._owned: dict[int, Any] = {}

    def find(self, path: str, missing: str) -> tuple[Any, str]:
        """The container that holds the last segment of `path`, ready to be changed, and that segment."""
        segments = path.split("/")[1:]
        found = self.root if segments else None
        if isinstance(found, dict | list):
            found = self.root = self._own(found)
            for segment in segments[:-1]:
                found = self._step(found, _decoded(segment))
                if found is None:
                    break
        if not isinstance(found, dict | list):
            raise PatchFailed(f"{missing}: missing value")
        return found, _decoded(segments[-1])

    def share(self) -> None:
        """Forget what may be changed in place, because some of it is about to stand in two places."""
        self._owned.clear()

    def _step(self, container: Any, segment: str) -> Any:
        place: Any = segment
        if isinstance(container, list):
            try:
                place = _index(segment, len(container))
            except PatchFailed:
                return None
        elif segment not in container:
            return None
        child = container[place]
        if not isinstance(child, dict | list):
            return None
        child = container[place] = self._own(child)
        return child

    def _own(self, container: Any) -> Any:
        if id(container) in self._owned:
            return container
        copy = container.copy()
        self._owned[id(copy)] = copy
        return copy


def _decoded(segment: str) -> str:
    return segment.replace("~1", "/").replace("~0", "~")


def _index(segment: str, size: int) -> int:
    if not _INDEX.fullmatch(segment):
        raise PatchFailed(f"value was not a proper array index: '{segment}'")
    index = int(segment)
    if not -size <= index < size:
        raise PatchFailed(f"Unable to access invalid index: {index}: invalid index referenced")
    return index % size


def _text(operation: dict[str, Any], field: str) -> str:
    text = operation.get(field)
    if not isinstance(text, str):
        raise PatchFailed(f"{operation['op']} operation failed to decode {field}: missing value")
    return text


def _add_at(container: Any, key: str, value: Any) -> None:
    if isinstance(container, dict):
        container[key] = value
    elif key == "-":
        container.append(value)
    else:
        container.insert(_index(key, len(container) + 1), value)


def _get_at(container: Any, key: str) -> Any:
    if isinstance(container, dict):
        return container.get(key, _MISSING)
    return container[_index(key, len(container))]


def _remove_at(container: Any, key: str) -> None:
    if isinstance(container, list):
        del container[_index(key, len(container))]
    elif key in container:
        del container[key]
    else:
        raise PatchFailed(f"Unable to remove nonexistent key: {key}: missing value")


def _add(document: _Document, operation: dict[str, Any]) -> None:
    path = _text(operation, "path")
    container, key = document.find(path, f'add operation does not apply: doc is missing path: "{path}"')
    with _Telling(f"error in add for path: '{path}'"):
        _add_at(container, key, operation.get("value"))


def _remove(document: _Document, operation: dict[str, Any]) -> None:
    path = _text(operation, "path")
    container, key = document.find(path, f'remove operation does not apply: doc is missing path: "{path}"')
    with _Telling(f"error in remove for path: '{path}'"):
        _remove_at(container, key)


def _replace(document: _Document, operation: dict[str, Any]) -> None:
    path = _text(operation, "path")
    value = operation.get("value")
    if path == "":
        if not isinstance(value, dict | list):
            raise PatchFailed("replace operation value must be object or array")
        document.root = value
        return
    container, key = document.find(path, f"replace operation does not apply: doc is missing path: {path}")
    if isinstance(container, dict):
        container[key] = value
        return
    try:
        index = _index(key, len(container))
    except PatchFailed as cause:
        message = f"replace operation does not apply: doc is missing key: {path}: missing value"
        raise PatchFailed(message) from cause
    container[index] = value


def _move(document: _Document, operation: dict[str, Any]) -> None:
    source = _text(operation, "from")
    container, key = document.find(source, f"move operation does not apply: doc is missing from path: {source}")
    with _Telling(f"error in move for path: '{key}'"):
        value = _get_at(container, key)
        _remove_at(container, key)
    path = _text(operation, "path")
    container, key = document.find(path, f"move operation does not apply: doc is missing destination path: {path}")
    with _Telling(f"error in move for path: '{path}'"):
        _add_at(container, key, value)


def _copy(document: _Document, operation: dict[str, Any]) -> None:
    source = _text(operation, "from")
    container, key = document.find(source, f"copy operation does not apply: doc is missing from path: {source}")
    with _Telling(f"error in copy for from: '{source}'"):
        value = _get_at(container, key)
    path = _text(operation, "path")
    document.share()
    container, key = document.find(path, f"copy operation does not apply: doc is missing destination path: {path}")
    if value is _MISSING:
        value = None
    else:
        document.copied_bytes += len(encode(value))
    if document.copied_bytes > COPIED_BYTES_MAX:
        raise PatchFailed(
            "Unable to complete the copy, the accumulated size increase of copy is "
            f"{document.copied_bytes}, exceeding the limit {COPIED_BYTES_MAX}"
        )
    with _Telling("error while adding value during copy"):
        _add_at(container, key, value)


def _test(document: _Document, operation: dict[str, Any]) -> None:
    path = _text(operation, "path")
    wanted = operation.get("value")
    if path == "":
        actual = document.root
    else:
        container, key = document.find(path, f"test operation does not apply: is missing path: {path}")
        with _Telling(f"error in test for path: '{path}'"):
            actual = _get_at(container, key)
    if actual is _MISSING:
        actual = None
    if not same(actual, wanted):
        raise PatchFailed(f"testing value {path} failed: test failed")


class _Telling:
    """Puts where it happened before what happened."""

    def __init__(self, where: str) -> None:
        self._where = where

    def __enter__(self) -> None: ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, PatchFailed):
            raise PatchFailed(f"{self._where}: {error}") from error


_KINDS: dict[str, Callable[[_Document, dict[str, Any]], None]] = {
    "add": _add,
    "remove": _remove,
    "replace": _replace,
    "move": _move,
    "copy": _copy,
    "test": _test,
}


def same(left: Any, right: Any) -> bool:
    """Whether two JSON values are equal; 1, 1.0 and true are three different ones. Does not recurse."""
    waiting = [(left, right)]
    while waiting:
        one, other = waiting.pop()
        if type(one) is not type(other):
            return False
        if isinstance(one, dict):
            if one.keys() != other.keys():
                return False
            waiting += [(value, other[key]) for key, value in one.items()]
        elif isinstance(one, list):
            if len(one) != len(other):
                return False
            waiting += zip(one, other, strict=True)
        elif one != other:
            return False
    return True
