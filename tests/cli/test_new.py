"""`hardpoint new crd`: a definition goes in, a file that `hardpoint manifests` understands comes out."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.cli.conftest import Home, home

__all__ = ["home"]

DEFINITION = Path(__file__).parents[1] / "seams" / "crd" / "definitions" / "certificate.yaml"


def test_a_definition_becomes_a_file_that_makes_the_definition(home: Home) -> None:
    made = home.run("new", "crd", "certificates", "--from", str(DEFINITION))
    assert (made.status, made.err) == (0, "")
    (home.path / "certificates.py").write_text(made.out)
    again = home.run("manifests", "certificates.py")
    assert (again.status, again.err) == (0, "")
    definition = yaml.safe_load(again.out)
    wanted = yaml.safe_load(DEFINITION.read_text())
    assert definition["spec"]["names"] == wanted["spec"]["names"]
    columns = [
        version["additionalPrinterColumns"]
        for version in (*definition["spec"]["versions"], *wanted["spec"]["versions"])
    ]
    assert columns[0] == columns[1]


@pytest.mark.parametrize(
    ("text", "name", "words"),
    [
        ("", "x", "holds no CustomResourceDefinition"),
        ("kind: Pod", "x", "must be an object with apiVersion, kind and metadata.name"),
        ("{apiVersion: v1, kind: Pod, metadata: {name: a}}", "x", "holds no CustomResourceDefinition"),
        ("{apiVersion: v1, kind: CustomResourceDefinition, metadata: {name: a}}", "x", "needs a spec with group"),
        (f"{DEFINITION.read_text()}---\n{DEFINITION.read_text()}", "x", "there is certificates.pki.example.com, cert"),
        ("a: [", "x", "is no YAML"),
        (DEFINITION.read_text(), "Not_A_Name", "'Not_A_Name' is no name for an App"),
    ],
)
def test_what_cannot_be_imported_is_told(home: Home, text: str, name: str, words: str) -> None:
    (home.path / "in.yaml").write_text(text)
    done = home.run("new", "crd", name, "--from", "in.yaml")
    assert done.status == 2
    assert words in done.err
