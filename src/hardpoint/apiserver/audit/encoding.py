"""Events as bytes: JSON as Go writes it, or kube-apiserver's legacy line."""

from __future__ import annotations

from typing import Any

import orjson

from hardpoint.machinery import jsontext
from hardpoint.machinery.fielderrors import quote

Json = dict[str, Any]

TRUNCATED = "audit.k8s.io/truncated"

_ESCAPES = ((b"&", b"\\u0026"), (b"<", b"\\u003c"), (b">", b"\\u003e"))
_SEPARATORS = ((b"\xe2\x80\xa8", b"\\u2028"), (b"\xe2\x80\xa9", b"\\u2029"))


def encode(event: Json) -> bytes:
    """The event as JSON, without the end of its line."""
    try:
        line = orjson.dumps(event)
    except orjson.JSONEncodeError:
        # A header or a path with what is no text; the slow encoder replaces it.
        line = jsontext.encode(event)
    for plain, escaped in _ESCAPES:
        if plain in line:
            line = line.replace(plain, escaped)
    if b"\xe2\x80" in line:
        for plain, escaped in _SEPARATORS:
            line = line.replace(plain, escaped)
    return line


def truncated(event: Json) -> Json:
    """The event without the objects that make it large."""
    lean = {name: value for name, value in event.items() if name not in ("requestObject", "responseObject")}
    lean["annotations"] = dict(sorted({**event.get("annotations", {}), TRUNCATED: "true"}.items()))
    return lean


def legacy(event: Json) -> bytes:
    """The event as one line of text, of which some fields are left out, without its end."""
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
