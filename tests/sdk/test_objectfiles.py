"""Objects in files, as kubectl takes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from hardpoint.machinery.errors import ConfigError
from hardpoint.sdk.objectfiles import read_definitions, read_objects

CRD = "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: a}}"
MAP = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}"


def test_documents_lists_and_nothing(tmp_path: Path) -> None:
    file = tmp_path / "objects.yaml"
    file.write_text(f"---\n---\n{MAP}\n---\n{{apiVersion: v1, kind: List, items: [{MAP}, {MAP}]}}\n")
    assert [each["kind"] for each in read_objects(str(file))] == ["ConfigMap"] * 3


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "is no YAML"),
        ("- 1", "every document must be an object with apiVersion, kind and metadata.name"),
        (MAP, "holds no CustomResourceDefinition"),
        (CRD, "crd.yaml: a needs a spec with group, scope, names.kind, and versions with names"),
        (CRD.replace("}}", "}, spec: {versions: 1}}"), "crd.yaml: a is no CustomResourceDefinition"),
    ],
)
def test_what_cannot_be_read_names_the_file(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "crd.yaml"
    file.write_text(text)
    with pytest.raises(ConfigError, match=r"crd\.yaml") as refused:
        read_definitions(str(file))
    assert words in str(refused.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"nothing\.yaml cannot be read: No such file"):
        read_objects(str(tmp_path / "nothing.yaml"))
