"""Where log records go: one line each, values by name, nothing in them that a terminal would obey."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime

_OWN = frozenset(logging.makeLogRecord({}).__dict__) | {"message", "asctime", "taskName"}


class LineFormatter(logging.Formatter):
    """`TIME LEVEL logger: words name=value ...`; whatever is not plain text is JSON, so that it stays on the line."""

    def format(self, record: logging.LogRecord) -> str:
        moment = datetime.fromtimestamp(record.created, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
        values = {key: value for key, value in record.__dict__.items() if key not in _OWN}
        if record.exc_info and record.exc_info[0]:
            values["traceback"] = self.formatException(record.exc_info)
        named = "".join(f" {key}={_shown(value)}" for key, value in values.items())
        return f"{moment} {record.levelname} {record.name}: {_plain(record.getMessage())}{named}"


def to_stderr(level: int = logging.INFO) -> None:
    """Send what the whole process has to say to stderr."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(LineFormatter())
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level)


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
