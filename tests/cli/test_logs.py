"""Log lines: one each, and nothing in them that a terminal would obey."""

from __future__ import annotations

import json
import logging

import pytest

from hardpoint.cli.logs import JsonFormatter, LineFormatter


def line(message: str, **values: object) -> str:
    record = logging.LogRecord("hardpoint.x", logging.INFO, "file", 1, message, None, None)
    record.__dict__.update(values)
    return LineFormatter().format(record).partition(" ")[2]


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        ({}, ""),
        ({"pod": "default/web-0", "count": 3}, " pod=default/web-0 count=3"),
        ({"why": "no room"}, ' why="no room"'),
        ({"why": 'a"b', "none": None}, ' why="a\\"b" none=null'),
        ({"name": "hardpoint.x", "equation": "a=b"}, ' equation="a=b"'),
        ({"evil": "\x1b[2J\r\nINFO forged"}, ' evil="\\u001b[2J\\r\\nINFO forged"'),
        ({"evil": "\u202etxt.exe"}, ' evil="\\u202etxt.exe"'),
        ({"evil": "\ud800"}, ' evil="\\ud800"'),
        ({"empty": "", "set": {1}}, ' empty="" set="{1}"'),
    ],
)
def test_values(values: dict[str, object], shown: str) -> None:
    assert line("pod bound", **values) == f"INFO hardpoint.x: pod bound{shown}"


def test_a_traceback_stays_on_its_line() -> None:
    try:
        raise ValueError("a\nb")
    except ValueError as error:
        record = logging.LogRecord("hardpoint.x", logging.ERROR, "file", 1, "failed", None, (ValueError, error, None))
    formatted = LineFormatter().format(record)
    assert "\n" not in formatted
    assert formatted.endswith('traceback="ValueError: a\\nb"')


def test_a_message_with_control_characters_is_quoted() -> None:
    assert line("a\x07b") == 'INFO hardpoint.x: "a\\u0007b"'


def test_json_lines_have_controller_runtimes_keys() -> None:
    record = logging.LogRecord("hardpoint.x", logging.WARNING, "file", 1, "no %s", ("room",), None)
    record.__dict__.update({"pod": "default/web-0", "evil": "\x1b[2J\nforged", "thing": {1}})
    text = JsonFormatter().format(record)
    assert text.isascii()
    assert text.isprintable()
    told = json.loads(text)
    assert told.pop("ts").endswith("Z")
    assert told == {
        "level": "warning",
        "logger": "hardpoint.x",
        "msg": "no room",
        "pod": "default/web-0",
        "evil": "\x1b[2J\nforged",
        "thing": "{1}",
    }


def test_a_json_line_holds_its_traceback() -> None:
    try:
        raise ValueError("a\nb")
    except ValueError as error:
        failed = (ValueError, error, error.__traceback__)
    line = JsonFormatter().format(logging.LogRecord("hardpoint.x", logging.ERROR, "file", 1, "failed", None, failed))
    assert "ValueError: a\nb" in json.loads(line)["traceback"]
    assert "\n" not in line
