"""Objects in files, as kubectl takes them: YAML or JSON, several documents, Lists."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hardpoint.machinery.errors import ConfigError
from hardpoint.machinery.shapes.refusals import TypeMismatch
from hardpoint.machinery.shapes.shape import shape

Json = dict[str, Any]

DEFINITION = "CustomResourceDefinition"
STDIN = "-"


def read_objects(file: str) -> list[Json]:
    """The objects in a file, those of Lists one by one; `-` reads stdin. Raises ConfigError."""
    from hardpoint.machinery import yamltext  # Not before there is a file to read.

    try:
        text = sys.stdin.buffer.read() if file == STDIN else Path(file).read_bytes()
        documents = yamltext.parse_all(text)
    except OSError as cause:
        raise ConfigError(f"{file} cannot be read: {cause.strerror}") from cause
    except yamltext.BadYaml as wrong:
        raise ConfigError(f"{file} is no YAML we read: {wrong}") from wrong
    return [_checked(each, file) for document in documents for each in _flat(document)]


def read_definitions(file: str) -> list[Json]:
    """The CustomResourceDefinitions in a file. Raises ConfigError, also if there are none."""
    found = [each for each in read_objects(file) if each["kind"] == DEFINITION]
    if not found:
        raise ConfigError(f"{file} holds no {DEFINITION}")
    for each in found:
        _check_definition(each, f"{file}: {each['metadata']['name']}")
    return found


def _check_definition(definition: Json, what: str) -> None:
    """It must be one by its form; whether it is a good one is not asked here. Raises ConfigError."""
    try:
        spec = shape("apiextensions.k8s.io/v1", DEFINITION).decode(definition).object.get("spec") or {}
    except TypeMismatch as wrong:
        raise ConfigError(f"{what} is no {DEFINITION}: {wrong}") from wrong
    versions = spec.get("versions") or ()
    is_whole = spec.get("group") and spec.get("scope") and (spec.get("names") or {}).get("kind")
    if not is_whole or not versions or not all(version.get("name") for version in versions):
        raise ConfigError(f"{what} needs a spec with group, scope, names.kind, and versions with names")


def _flat(document: Any) -> Iterator[Any]:
    if document is None:
        return
    if isinstance(document, dict) and str(document.get("kind", "")).endswith("List") and _is_listing(document):
        yield from document["items"] or ()
    else:
        yield document


def _is_listing(document: Json) -> bool:
    return "items" in document and isinstance(document["items"], list | None)


def _checked(obj: Any, file: str) -> Json:
    is_object = isinstance(obj, dict) and all(isinstance(obj.get(name), str) for name in ("apiVersion", "kind"))
    if not is_object or not isinstance(_metadata(obj).get("name"), str):
        raise ConfigError(f"{file}: every document must be an object with apiVersion, kind and metadata.name")
    return obj  # type: ignore[no-any-return]  # a dict, as was just seen


def _metadata(obj: Json) -> Json:
    metadata = obj.get("metadata")
    return metadata if isinstance(metadata, dict) else {}
