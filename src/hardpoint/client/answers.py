"""What an answer says: the object in it, or the refusal."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from typing import Any

import orjson

from hardpoint.client.transport import Answer, BadAnswer
from hardpoint.machinery import jsonexact
from hardpoint.machinery.errors import ApiError
from hardpoint.machinery.jsonexact import BadJson

Json = dict[str, Any]

log = logging.getLogger(__name__)

# What a code means where no Status comes with it: the server's proxy answered, not the server.
REASONS = {
    400: "BadRequest",
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    405: "MethodNotAllowed",
    406: "NotAcceptable",
    409: "Conflict",
    410: "Gone",
    413: "RequestEntityTooLarge",
    415: "UnsupportedMediaType",
    422: "Invalid",
    429: "TooManyRequests",
    500: "InternalError",
    503: "ServiceUnavailable",
    504: "Timeout",
}
STATUS_TYPES = {"code": int, "reason": str, "message": str, "details": dict, "metadata": dict}
SHOWN_CHARACTERS_MAX = 512
WARNING = re.compile(r'299 \S+ "((?:[^"\\]|\\.)*)"')
WARNINGS_REMEMBERED_MAX = 1000


def decoded(answer: Answer, where: str) -> Json:
    """The object an answer carries. Raises ApiError if it is a refusal, BadAnswer if it is no object."""
    if not 200 <= answer.status < 300:
        raise refusal(answer)
    try:
        found = read_json(answer.body)
    except BadJson as cause:
        raise BadAnswer(where, "the answer is not JSON") from cause
    if not isinstance(found, dict):
        raise BadAnswer(where, "the answer is not a JSON object")
    return found


def read_json(text: bytes) -> Any:
    """The value of a JSON text, also of one that nests as deep as Kubernetes allows. Raises BadJson."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return jsonexact.parse(text).value


def refusal(answer: Answer) -> ApiError:
    """The error an answer stands for, from its Status or else from its code."""
    status = _status(answer.body)
    if status is not None:
        error = stated(status, answer.status)
    else:
        text = answer.body[:SHOWN_CHARACTERS_MAX].decode("utf-8", "replace").strip()
        message = text or f"the server answered {answer.status}"
        error = ApiError(answer.status, REASONS.get(answer.status, ""), message)
    asked = answer.headers.get("retry-after", "")
    if not error.retry_after_seconds and asked.isascii() and asked.isdecimal():
        error.retry_after_seconds = int(asked)
    return error


def stated(status: Json, code: int = 500) -> ApiError:
    """The error a Status stands for. What has the wrong type counts as not said; `code` is for one that has none."""
    said = {key: status[key] for key, kind in STATUS_TYPES.items() if isinstance(status.get(key), kind)}
    error = ApiError.from_status({"code": code} | said)
    if not isinstance(error.retry_after_seconds, int):
        error.retry_after_seconds = 0
    return error


def _status(body: bytes) -> Json | None:
    try:
        found = orjson.loads(body)
    except orjson.JSONDecodeError:
        return None
    return found if isinstance(found, dict) and found.get("kind") == "Status" else None


class Warnings:
    """Tells the log what a server warns of, each text once."""

    def __init__(self) -> None:
        self._told: set[str] = set()

    def hear(self, headers: Mapping[str, str]) -> None:
        header = headers.get("warning")
        if not header:
            return
        for text in WARNING.findall(header):
            if text not in self._told and len(self._told) < WARNINGS_REMEMBERED_MAX:
                self._told.add(text)
                log.warning("server warns", extra={"warning": re.sub(r"\\(.)", r"\1", text)})
