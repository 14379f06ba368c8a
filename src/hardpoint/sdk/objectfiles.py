"""Objects in files, as kubectl takes them: YAML or JSON, several documents, Lists."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hardpoint.machinery.errors import ConfigError

Json = dict[str, Any]

DEFINITION = "CustomResourceDefinition"
STDIN = "-"


def read_objects(file: str) -> list[Json]:
    """The objects in a file, those of Lists one by one; `-` reads stdin. Raises ConfigError."""
    import yaml  # Not before there is a file to read.

    try:
        text = sys.stdin.buffer.read() if file == STDIN else Path(file).read_bytes()
        documents = list(yaml.load_all(text, Loader=yaml.CSafeLoader))
    except OSError as cause:
        raise ConfigError(f"{file} cannot be read: {cause.strerror}") from cause
    except (yaml.YAMLError, ValueError) as wrong:
        raise ConfigError(f"{file} is no YAML: {' '.join(str(wrong).split())}") from wrong
    return [_checked(each, file) for document in documents for each in _flat(document)]


def read_definitions(file: str) -> list[Json]:
    """The CustomResourceDefinitions in a file. Raises ConfigError, also if there are none."""
    found = [each for each in read_objects(file) if each["kind"] == DEFINITION]
    for each in found:
        spec = each["spec"] if isinstance(each.get("spec"), dict) else {}
        if not isinstance(spec.get("names"), dict) or not isinstance(spec.get("versions"), list) or "group" not in spec:
            raise ConfigError(f"{file}: {each['metadata']['name']} has no spec with group, names and versions")
    if not found:
        raise ConfigError(f"{file} holds no {DEFINITION}")
    return found


def _flat(document: Any) -> Iterator[Any]:
    if document is None:
        return
    if isinstance(document, dict) and str(document.get("kind", "")).endswith("List") and "items" in document:
        yield from document["items"] or ()
    else:
        yield document


def _checked(obj: Any, file: str) -> Json:
    is_object = isinstance(obj, dict) and all(isinstance(obj.get(name), str) for name in ("apiVersion", "kind"))
    if not is_object or not isinstance((obj.get("metadata") or {}).get("name"), str):
        raise ConfigError(f"{file}: every document must be an object with apiVersion, kind and metadata.name")
    return obj  # type: ignore[no-any-return]  # a dict, as was just seen
