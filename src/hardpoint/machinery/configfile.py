"""Configuration files that Kubernetes components read: YAML or JSON of one kind, read strictly.

    decode(text, kind="AuthenticationConfiguration", versions=(...), fields={"jwt": [{"issuer": {"url": str}}]})

What a file may hold is said by a value of the same form: an object's fields by name, a list's items by the one item,
the rest by a type. A field nobody knows, one that is said twice, a value of another type: each is told, by its path.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hardpoint.machinery import yamltext
from hardpoint.machinery.errors import ConfigError

Json = dict[str, Any]
Fields = dict[str, Any]

_CALLED = {str: "a text", bool: "true or false", int: "a number"}


def decode(text: bytes, *, kind: str, versions: Sequence[str], fields: Fields) -> Json:
    """The object in a text; fields that are null are left out. Raises ConfigError with everything that is wrong."""
    try:
        parsed = yamltext.parse(text)
    except yamltext.BadYaml as wrong:
        raise ConfigError(str(wrong)) from wrong
    if not isinstance(parsed.value, dict):
        raise ConfigError(f"it must hold an object of kind {kind}")
    if parsed.value.get("kind") != kind or parsed.value.get("apiVersion") not in versions:
        raise ConfigError(f"kind must be {kind} and apiVersion {' or '.join(versions)}")
    problems = [f"{path}: said twice" for path in parsed.duplicates]
    value: Json = _decoded(parsed.value, {"apiVersion": str, "kind": str, **fields}, "", problems)
    if problems:
        raise ConfigError("; ".join(problems))
    return value


def _decoded(value: Any, expected: Any, path: str, problems: list[str]) -> Any:
    if isinstance(expected, dict):
        return _object(value, expected, path, problems)
    if isinstance(expected, list):
        if isinstance(value, list):
            return [_decoded(item, expected[0], f"{path}[{index}]", problems) for index, item in enumerate(value)]
        problems.append(f"{path}: must be a list")
        return []
    if type(value) is not expected:
        problems.append(f"{path}: must be {_CALLED[expected]}")
        return expected()
    return value


def _object(value: Any, expected: Fields, path: str, problems: list[str]) -> Json:
    if not isinstance(value, dict):
        problems.append(f"{path}: must be an object")
        return {}
    found: Json = {}
    for name, inner in value.items():
        below = f"{path}.{name}" if path else name
        if name not in expected:
            problems.append(f"{below}: there is no such field")
        elif inner is not None:
            found[name] = _decoded(inner, expected[name], below, problems)
    return found
