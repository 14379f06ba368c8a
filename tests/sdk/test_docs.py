"""The programs in the pages about extensions can be loaded, and say what the pages say."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

import hardpoint.audit
import hardpoint.authentication
import hardpoint.authorization
import hardpoint.controller
import hardpoint.credential
from hardpoint import App
from hardpoint.guests.file_users import read
from hardpoint.sdk.loading import load

DOCS = Path(__file__).parents[2] / "docs"
PAGES = (
    "tutorial.md",
    "guides/webhooks.md",
    "guides/controllers.md",
    "guides/handlers.md",
    "guides/credential-plugins.md",
    "reference/sdk.md",
)


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", (DOCS / page).read_text(), re.MULTILINE | re.DOTALL)


PROGRAMS = [(page, text) for page in PAGES for text in blocks(page, "python") if "App(" in text]


@pytest.mark.parametrize(("page", "text"), PROGRAMS, ids=[page for page, _ in PROGRAMS])
def test_a_program_is_loaded(page: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "page.py").write_text(text)
    assert load(str(tmp_path / "page.py")).app.name


def test_every_decorator_and_every_word_is_in_the_reference() -> None:
    reference = (DOCS / "reference/sdk.md").read_text()
    decorators = [name for name in dir(App) if not name.startswith("_") and callable(getattr(App, name))]
    assert [name for name in decorators if f"@app.{name}" not in reference] == []
    modules = (
        hardpoint.authentication,
        hardpoint.authorization,
        hardpoint.audit,
        hardpoint.controller,
        hardpoint.credential,
    )
    assert [module.__name__ for module in modules if f"`{module.__name__}`" not in reference] == []


def test_the_users_file_can_be_read() -> None:
    (text,) = [block for block in blocks("guides/webhooks.md", "yaml") if "tokenSHA256" in block]
    book = read(text)
    assert len(book.users) == 1
    assert len(book.rules) == 3
