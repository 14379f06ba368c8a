"""The guide about resources: its programs run one after the other, and it has every word."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from types import ModuleType
from typing import Any, ClassVar

import pytest
from pydantic import BaseModel

import hardpoint.crd
from hardpoint.sdk.resources import definitions
from hardpoint.seams.crd.guest.definition import ResourceOptions
from tests.sdk.test_docs import DOCS, blocks

PAGE = "guides/resources.md"
JSON: dict[str, Any] = {"spec": {"cronSpec": "* * * * *", "image": "i", "strange": 1}}


def test_the_programs_run(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("resources_guide")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    prepared = {
        "ClassVar": ClassVar,
        "Disk": type("Disk", (BaseModel,), {}),
        "Bucket": type("Bucket", (BaseModel,), {}),
    }
    vars(module).update(prepared, json=JSON, now=datetime(2026, 1, 2, tzinfo=UTC))
    for block in blocks(PAGE, "python"):
        exec(compile(block, PAGE, "exec"), vars(module))
    tab = vars(module)["tab"]
    assert tab.to_json()["spec"] == JSON["spec"]
    assert tab.to_json()["status"] == {"lastRun": "2026-01-02T00:00:00Z"}
    (definition,) = definitions(vars(module)["app"], lambda path: {"url": f"https://x{path}"})
    assert [version["name"] for version in definition["spec"]["versions"]] == ["v1", "v1beta1"]
    assert definition["spec"]["conversion"]["strategy"] == "Webhook"


def test_every_word_and_every_option_is_in_the_guide() -> None:
    page = (DOCS / PAGE).read_text()
    words = [*hardpoint.crd.__all__, *ResourceOptions.__annotations__]
    assert [word for word in words if word not in page] == []
