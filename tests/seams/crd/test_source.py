"""Classes for definitions that exist: loaded again, they define the same."""

from __future__ import annotations

import copy
import itertools
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml
from hypothesis import assume, given, settings

from hardpoint.machinery.defaults.apiextensions import DEFAULTS
from hardpoint.machinery.errors import ConfigError
from hardpoint.machinery.validation.apiextensions import CREATE
from hardpoint.sdk.resources import definitions
from hardpoint.seams.crd.guest.source import source
from tests.seams.crd.schemas import definition, essence, specs

Json = dict[str, Any]
SAMPLES = sorted((Path(__file__).parent / "definitions").glob("*.yaml"))

_numbers = itertools.count(1)


def loaded(text: str) -> ModuleType:
    module = ModuleType(f"generated_{next(_numbers)}")
    sys.modules[module.__name__] = module
    exec(compile(text, "generated.py", "exec"), module.__dict__)
    return module


@pytest.fixture(autouse=True, scope="module")
def _forget_modules() -> Iterator[None]:
    yield
    for name in [name for name in sys.modules if name.startswith("generated_")]:
        del sys.modules[name]


def again(wanted: Json) -> Json:
    (made,) = definitions(loaded(source(wanted, "again")).app)
    return made


def is_taken(definition: Json) -> bool:
    """Whether an API server takes it: rules may cost too much where lists have no end."""
    tried = copy.deepcopy(definition)
    DEFAULTS["CustomResourceDefinition"](tried)
    return not CREATE["CustomResourceDefinition"](tried)


def meaning(definition: Json) -> Json:
    """What a definition says, whatever its words."""
    found = copy.deepcopy(definition["spec"])
    found.pop("conversion", None)
    for name in ("shortNames", "categories"):
        if not found["names"].get(name):
            found["names"].pop(name, None)
    found["versions"] = {
        version.pop("name"): {**version, "schema": essence(version["schema"]["openAPIV3Schema"], is_root=True)}
        for version in found["versions"]
    }
    return found


@settings(max_examples=80, deadline=None)
@given(specs())
def test_a_definition_comes_back(spec: Json) -> None:
    wanted = definition(spec)
    assume(is_taken(wanted))
    assert meaning(again(wanted)) == meaning(wanted)


@pytest.mark.parametrize(
    "schema",
    [
        pytest.param({"type": "object"}, id="no fields"),
        pytest.param({"type": "object", "x-kubernetes-preserve-unknown-fields": True}, id="anything"),
        pytest.param(
            {"type": "object", "required": ["data"], "properties": {"data": {"type": "string"}}}, id="no spec"
        ),
        pytest.param(
            {
                "type": "object",
                "properties": {"spec": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
            },
            id="a spec of anything",
        ),
        pytest.param(
            {"type": "object", "required": ["status"], "properties": {"status": {"type": "object"}}},
            id="status required",
        ),
        pytest.param(
            {"type": "object", "oneOf": [{"required": ["a"]}], "properties": {"a": {"type": "string"}}}, id="a choice"
        ),
    ],
)
def test_the_top_level_comes_back(schema: Json) -> None:
    wanted = definition({})
    wanted["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = schema
    assert meaning(again(wanted)) == meaning(wanted)
    wanted["spec"]["versions"][0]["subresources"] = {"status": {}}
    if is_taken(wanted):
        assert meaning(again(wanted)) == meaning(wanted)


@pytest.mark.parametrize("sample", SAMPLES, ids=[sample.stem for sample in SAMPLES])
def test_a_definition_of_the_wild_comes_back(sample: Path) -> None:
    wanted = yaml.safe_load(sample.read_text())
    assert meaning(again(wanted)) == meaning(wanted)


@pytest.mark.parametrize("sample", SAMPLES, ids=[sample.stem for sample in SAMPLES])
def test_the_source_is_formatted_sorted_and_typed(sample: Path, tmp_path: Path) -> None:
    file = tmp_path / "generated.py"
    file.write_text(source(yaml.safe_load(sample.read_text()), "again"))
    ruff = [sys.executable, "-m", "ruff"]
    for command in (
        [*ruff, "format", "--isolated", "--diff", str(file)],
        [*ruff, "check", "--isolated", "--select", "E,F,I,N,UP,B,RUF,PIE", "--ignore", "E501,N815", str(file)],
    ):
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, timeout=60)
        assert done.returncode == 0, done.stdout


def test_the_type_checker_knows_the_classes(tmp_path: Path) -> None:
    files = []
    for sample in SAMPLES:
        files.append(tmp_path / f"{sample.stem.replace('-', '_')}.py")
        files[-1].write_text(source(yaml.safe_load(sample.read_text()), "again"))
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), *map(str, files)]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[3], timeout=110
    )
    assert done.returncode == 0, done.stdout


@settings(max_examples=20, deadline=None)
@given(specs())
def test_any_source_is_as_the_formatter_has_it(spec: Json) -> None:
    text = source(definition(spec), "again")
    ruff = [sys.executable, "-m", "ruff", "format", "--isolated", "--stdin-filename", "x.py", "-"]
    done = subprocess.run(ruff, input=text, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == text


def test_what_is_no_definition() -> None:
    with pytest.raises(ConfigError, match="no CustomResourceDefinition"):
        source({"kind": "Pod"}, "again")
