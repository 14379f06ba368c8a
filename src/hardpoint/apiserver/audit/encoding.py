"""Bytes of events: JSON as Go writes it, and kube-apiserver's legacy line."""

from __future__ import annotations

import time
from typing import Any

import orjson

from hardpoint.machinery import jsontext
from hardpoint.machinery.fielderrors import quote

Json = dict[str, Any]

TRUNCATED = "audit.k8s.io/truncated"

_AMPERSAND, _LESS, _GREATER, _SEPARATORS = b"&<>\xe2"
_ESCAPES = (
    (b"&", b"\\u0026"),
    (b"<", b"\\u003c"),
    (b">", b"\\u003e"),
    (b"\xe2\x80\xa8", b"\\u2028"),
    (b"\xe2\x80\xa9", b"\\u2029"),
)


def encode(value: Any) -> bytes:
    """A value as JSON; text that is none is replaced."""
    try:
        return orjson.dumps(value)
    except orjson.JSONEncodeError:
        return jsontext.encode(value)


def as_go(line: bytes) -> bytes:
    """JSON with what HTML would mind escaped, as Go's encoder does."""
    if _AMPERSAND in line or _LESS in line or _GREATER in line or _SEPARATORS in line:
        for plain, escaped in _ESCAPES:
            line = line.replace(plain, escaped)
    return line


class _Stamps:
    """Times as MicroTimes; the part that is the same for a second is made once."""

    def __init__(self) -> None:
        self._second = -1
        self._text = b""

    def of(self, nanoseconds: int) -> bytes:
        microseconds = nanoseconds // 1000
        second = microseconds // 1_000_000
        if second != self._second:
            self._second = second
            self._text = time.strftime("%Y-%m-%dT%H:%M:%S.", time.gmtime(second)).encode()
        return b"%b%06dZ" % (self._text, microseconds - second * 1_000_000)


stamp = _Stamps().of
"""A time in nanoseconds since 1970 as `2026-01-02T03:04:05.000006Z`."""


def truncated(line: bytes) -> bytes:
    """The event without the objects that make it large."""
    event = orjson.loads(line)
    lean = {name: value for name, value in event.items() if name not in ("requestObject", "responseObject")}
    lean["annotations"] = dict(sorted({**event.get("annotations", {}), TRUNCATED: "true"}.items()))
    return as_go(encode(lean))


def legacy(line: bytes) -> bytes:
    """The event as one line of text, of which some fields are left out."""
    event = orjson.loads(line)
    user, other = event["user"], event.get("impersonatedUser")
    words = {
        "id": event["auditID"],
        "stage": event["stage"],
        "ip": next(iter(event.get("sourceIPs", ())), "<unknown>"),
        "method": event["verb"],
        "user": user.get("username") or "<none>",
        "groups": _listed(user.get("groups")) or "<none>",
        "as": other["username"] if other else "<self>",
        "asgroups": _listed(other.get("groups")) if other else "<lookup>",
        "user-agent": event.get("userAgent", ""),
        "namespace": event.get("objectRef", {}).get("namespace") or "<none>",
        "uri": event["requestURI"],
    }
    status = event.get("responseStatus")
    told = " ".join(f"{name}={quote(value)}" for name, value in words.items())
    response = status["code"] if status else "<deferred>"
    return f'{event["requestReceivedTimestamp"]} AUDIT: {told} response="{response}"'.encode("utf-8", "replace")


def _listed(texts: list[str] | None) -> str:
    return ",".join(map(quote, texts or ()))
