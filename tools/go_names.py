"""The Go spelling of field types, read from Go sources of the Kubernetes API modules.

Type errors of the API server name Go types (`v1.RestartPolicy`, `v1.ResourceList`), and neither OpenAPI nor the
protobuf tables know those names. This reads them from struct declarations: nothing else of the sources is kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

_IMPORT = re.compile(r'^\s*(?:import\s+)?(?:(\w+)\s+)?"([\w./-]+)"\s*$', re.MULTILINE)
_STRUCT = re.compile(r"^type (\w+) struct \{$(.*?)^\}", re.MULTILINE | re.DOTALL)
_FIELD = re.compile(r'^\s+\w+\s+(\S+)\s+`[^`]*json:"([^",]+)', re.MULTILINE)
_NAME = re.compile(r"(?<![\w.])(?:(\w+)\.)?([A-Za-z]\w*)")
_PLAIN = {"string", "bool", "int", "int32", "int64", "float64", "byte", "map", "any"}


def read(root: Path) -> dict[tuple[str, str, str], str]:
    """Map (package path below k8s.io, struct, JSON name) to the field's type as Go's reflection prints it.

    `root` holds the modules: `api`, `apimachinery`, `apiextensions-apiserver`, `kube-aggregator`.
    """
    names: dict[tuple[str, str, str], str] = {}
    for path in _sources(root):
        package = path.parent.relative_to(root).as_posix()
        text = path.read_text()
        imported = {alias or target.rpartition("/")[2]: target for alias, target in _IMPORT.findall(text)}
        for struct, body in _STRUCT.findall(text):
            for expression, json_name in _FIELD.findall(body):
                names[package, struct, json_name] = _printed(expression, path.parent.name, imported)
    return names


def _sources(root: Path) -> Iterator[Path]:
    for path in sorted(root.rglob("*.go")):
        if not path.name.endswith("_test.go") and not path.name.startswith(("zz_", "generated")):
            yield path


def _printed(expression: str, package: str, imported: dict[str, str]) -> str:
    """A type expression with its names qualified by the last part of their package's path."""

    def qualified(match: re.Match[str]) -> str:
        alias, name = match.groups()
        if alias:
            return f"{imported.get(alias, alias).rpartition('/')[2]}.{name}"
        return name if name in _PLAIN else f"{package}.{name}"

    return _NAME.sub(qualified, expression.removeprefix("*")).replace("[]byte", "[]uint8")
