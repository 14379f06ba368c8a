"""Where log records go: one line each, values by name, nothing in them that a terminal would obey.

What is logged inside a reconcile says which, by whomever it is logged.
"""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Any, Literal

from hardpoint.runtime.telemetry import log_fields

Format = Literal["text", "json"]

_OWN = frozenset(logging.makeLogRecord({}).__dict__) | {"message", "asctime", "taskName"}


class LineFormatter(logging.Formatter):
    """`TIME LEVEL logger: words name=value ...`; whatever is not plain text is JSON, so that it stays on the line."""

    def format(self, record: logging.LogRecord) -> str:
        named = "".join(f" {key}={_shown(value)}" for key, value in _values(self, record).items())
        return f"{_moment(record)} {record.levelname} {record.name}: {_plain(record.getMessage())}{named}"


class JsonFormatter(logging.Formatter):
    """An object a line, with controller-runtime's keys: ts, level, logger, msg, and the values by their names."""

    def format(self, record: logging.LogRecord) -> str:
        told = {"ts": _moment(record), "level": record.levelname.lower(), "logger": record.name}
        return json.dumps(told | {"msg": record.getMessage()} | _values(self, record), default=str)


FORMATTERS: dict[Format, type[logging.Formatter]] = {"text": LineFormatter, "json": JsonFormatter}


def to_stderr(level: int = logging.INFO, *, form: Format = "text") -> None:
    """Send what the whole process has to say to stderr."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(FORMATTERS[form]())
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level)


def _moment(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


def _values(formatter: logging.Formatter, record: logging.LogRecord) -> dict[str, Any]:
    """What a line says by name: what was said with it, and which reconcile it was said in."""
    values = log_fields() | {key: value for key, value in record.__dict__.items() if key not in _OWN}
    if record.exc_info and record.exc_info[0]:
        values["traceback"] = formatter.formatException(record.exc_info)
    return values


def _shown(value: object) -> str:
    if (
        isinstance(value, str)
        and value
        and value.isprintable()
        and value.isascii()
        and not set(value) & {" ", '"', "="}
    ):
        return value
    return json.dumps(value, default=str)


def _plain(text: str) -> str:
    return text if text.isprintable() else json.dumps(text)
