"""Finding the App that somebody means, and saying which line is wrong."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hardpoint.machinery.errors import ConfigError
from hardpoint.sdk.loading import load

APP = 'from hardpoint import App\napp = App("one")\n'


@pytest.fixture(autouse=True)
def _clean_import_path() -> Iterator[None]:
    path, modules = list(sys.path), set(sys.modules)
    yield
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        if name.startswith("hardpoint_app_") or name in ("neighbour", "package_of_test", "package_of_test.apps"):
            del sys.modules[name]


def written(folder: Path, text: str, name: str = "users.py") -> str:
    file = folder / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    return str(file)


def test_the_app_of_a_file(tmp_path: Path) -> None:
    loaded = load(written(tmp_path, APP))
    assert loaded.app.name == "one"
    assert loaded.files == (tmp_path / "users.py",)


def test_one_of_several(tmp_path: Path) -> None:
    target = written(tmp_path, f'{APP}other = App("two")\n')
    assert load(f"{target}:other").app.name == "two"
    with pytest.raises(ConfigError, match=r"must hold one App, and there are app, other; name one, such as"):
        load(target)
    with pytest.raises(ConfigError, match=r"has no App called 'third'; there are app, other"):
        load(f"{target}:third")


def test_one_app_under_two_names_is_one(tmp_path: Path) -> None:
    assert load(written(tmp_path, f"{APP}again = app\n")).app.name == "one"


def test_a_file_finds_its_neighbours_and_both_are_known(tmp_path: Path) -> None:
    written(tmp_path, "WORD = 'one'", "neighbour.py")
    loaded = load(written(tmp_path, "from neighbour import WORD\nfrom hardpoint import App\napp = App(WORD)\n"))
    assert loaded.files == (tmp_path / "neighbour.py", tmp_path / "users.py")
    written(tmp_path, "WORD = 'two-words'", "neighbour.py")
    loaded.forget()
    assert load(str(tmp_path / "users.py")).app.name == "two-words"


def test_packages_installed_beside_a_file_are_not_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed = tmp_path / "venv" / "lib" / "site-packages"
    installed.mkdir(parents=True)
    written(installed, "WORD = 'one'", "neighbour.py")
    monkeypatch.syspath_prepend(installed)
    loaded = load(written(tmp_path, "from neighbour import WORD\nfrom hardpoint import App\napp = App(WORD)\n"))
    assert loaded.files == (tmp_path / "users.py",)


def test_the_app_of_a_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path, "", "package_of_test/__init__.py")
    written(tmp_path, APP, "package_of_test/apps.py")
    monkeypatch.syspath_prepend(tmp_path)
    assert load("package_of_test.apps").app.name == "one"
    assert load("package_of_test.apps:app").app.name == "one"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param("x = 1", r"must hold one App, and there is none; make one with", id="no App"),
        pytest.param("\ndef broken(:", r"users.py:2: SyntaxError", id="not Python"),
        pytest.param("\n\n1 / 0", r"users.py:3: ZeroDivisionError: division by zero", id="raises"),
        pytest.param("\nimport no_such_module", r"users.py:2: ModuleNotFoundError", id="needs something"),
        pytest.param(f"{APP}@app.authenticator\ndef f(): ...", r"users.py:3: @app.authenticator: f must", id="wrong"),
    ],
)
def test_a_file_that_cannot_be_loaded_is_named_with_its_line(tmp_path: Path, text: str, words: str) -> None:
    before = set(sys.modules)
    with pytest.raises(ConfigError, match=words):
        load(written(tmp_path, text))
    assert not [name for name in set(sys.modules) - before if name.startswith("hardpoint_app_")] or words.startswith(
        "must hold"
    )


def test_targets_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="is no file"):
        load(str(tmp_path / "missing.py"))
    with pytest.raises(ConfigError, match="there is no module 'no_such_module_here'"):
        load("no_such_module_here")
