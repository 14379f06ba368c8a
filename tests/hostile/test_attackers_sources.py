"""Definitions that want to become code: `hardpoint new crd` writes Python, of which a stranger chose every text."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from hardpoint.machinery.errors import ConfigError
from hardpoint.sdk.objectfiles import read_objects
from hardpoint.seams.crd.guest.source import IMPORTED, source

Json = dict[str, Any]

PAYLOADS = [
    'x"""\nPWNED()\n"""',
    "x'''\nPWNED()\n'''",
    "X(Resource):\n    pass\nPWNED()\nclass Y",
    "x\nPWNED()",
    "x\rPWNED()",
    "x\x0cPWNED()",
    "x\u2028PWNED()",
    'x"); PWNED(); ("',
    "x'); PWNED(); ('",
    "x\\",
    '\\"""\nPWNED()#',
    "x\x00",
    "{PWNED()}",
    "PWNED",
    "None",
    "class",
    "Field",
    "",
]
STATEMENTS = (ast.ImportFrom, ast.ClassDef)
VERSION: Json = {
    "served": True,
    "deprecated": True,
    "deprecationWarning": "warned",
    "additionalPrinterColumns": [{"name": "C", "type": "string", "jsonPath": ".spec.a", "description": "d"}],
    "selectableFields": [{"jsonPath": ".spec.a"}],
    "subresources": {"status": {}, "scale": {"specReplicasPath": ".spec.r", "statusReplicasPath": ".status.r"}},
    "schema": {
        "openAPIV3Schema": {
            "type": "object",
            "description": "the whole",
            "properties": {
                "spec": {
                    "type": "object",
                    "description": "a part",
                    "required": ["a"],
                    "x-kubernetes-validations": [
                        {"rule": "self.a == 'x'", "message": "m", "messageExpression": "'a'", "fieldPath": ".a"}
                    ],
                    "properties": {
                        "a": {"type": "string", "description": "text", "default": "a", "pattern": "^a$", "title": "t"},
                        "e": {"type": "string", "enum": ["one", "two"], "default": "one"},
                        "o": {"type": "object", "properties": {"z": {"type": "string"}}, "default": {"z": "k"}},
                        "m": {"type": "object", "additionalProperties": {"type": "string"}},
                        "l": {
                            "type": "array",
                            "items": {"type": "object", "properties": {"k": {"type": "string"}}},
                            "x-kubernetes-list-type": "map",
                            "x-kubernetes-list-map-keys": ["k"],
                        },
                        "r": {"type": "integer"},
                    },
                },
                "status": {"type": "object", "properties": {"r": {"type": "integer"}}},
            },
        }
    },
}
DEFINITION: Json = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "things.x.example", "annotations": {"api-approved.kubernetes.io": "yes"}},
    "spec": {
        "group": "x.example",
        "scope": "Namespaced",
        "names": {"kind": "Thing", "plural": "things", "shortNames": ["t"], "categories": ["all"]},
        "versions": [{"name": "v1", "storage": True, **VERSION}, {"name": "v1beta1", **VERSION}],
    },
}


def spoiled(whole: Json, payload: str) -> Iterator[Json]:
    """The definition again and again, each time with the payload in the place of another text or key."""
    for way, key in list(_places(whole, ())):
        copy = deepcopy(whole)
        above = copy
        for step in way:
            above = above[step]
        if isinstance(above[key], str):
            above[key] = payload
            yield copy
        elif isinstance(above, dict):
            above[payload] = above.pop(key)
            yield copy


def _places(value: Any, way: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], Any]]:
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        yield way, key
        if isinstance(item, dict | list):
            yield from _places(item, (*way, key))


@pytest.mark.parametrize("payload", PAYLOADS)
def test_no_text_of_a_definition_becomes_code(payload: str) -> None:
    written = 0
    for definition in spoiled(DEFINITION, payload):
        try:
            text = source(definition, "things")
        except ConfigError:
            continue
        written += 1
        module = ast.parse(text)
        # Annotations and defaults may name the models of the file, whatever fields those were named after.
        declared = {node.name for node in ast.walk(module) if isinstance(node, ast.ClassDef)}
        called = {
            node.func.id for node in ast.walk(module) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        }
        assert called <= IMPORTED | declared, text
        assert not declared & IMPORTED, text
        docstring, *statements = module.body
        assert isinstance(docstring, ast.Expr), text
        others = [ast.unparse(each) for each in statements if not isinstance(each, STATEMENTS)]
        assert others == ["app = App('things')"], text
    assert written > 0, "nothing was tried"


def test_aliases_do_not_multiply(tmp_path: Path) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    (tmp_path / "bomb.yaml").write_text("\n".join(lines))
    with pytest.raises(ConfigError, match="excessive aliasing"):
        read_objects(str(tmp_path / "bomb.yaml"))


@pytest.mark.parametrize(
    "text",
    [
        "!!python/object/apply:os.system [id]",
        "kind: &a [*a]",
        "[" * 100_000,
        "{apiVersion: v1, kind: List, items: 5}",
        "{apiVersion: v1, kind: List, items: [5]}",
        "{apiVersion: v1, kind: Pod, metadata: 5}",
        "{apiVersion: v1, kind: Pod, metadata: [name]}",
        "\x00",
    ],
)
def test_hostile_files_are_refused_in_words(tmp_path: Path, text: str) -> None:
    (tmp_path / "hostile.yaml").write_text(text)
    with pytest.raises(ConfigError, match=r"hostile\.yaml"):
        read_objects(str(tmp_path / "hostile.yaml"))
