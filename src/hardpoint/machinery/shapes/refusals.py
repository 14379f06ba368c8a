"""How Go refuses a JSON value that does not fit a type, and how kube-apiserver words the refusal of a body.

The texts are those of encoding/json as kube-apiserver vendors it, and of its request decoder.
"""

from __future__ import annotations

from typing import Any

from hardpoint.machinery.errors import HardpointError
from hardpoint.machinery.fielderrors import quote

_SUMMARY_BYTES_MAX = 30
_TYPE_META = r'struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }'


class TypeMismatch(HardpointError):
    """A body does not fit its kind's Go type; the message is Go's."""


def json_type(value: Any) -> str:
    """What Go calls the JSON type of a value."""
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, str):
        return "string"
    if isinstance(value, dict):
        return "object"
    return "array" if isinstance(value, list) else "number"


def cannot_unmarshal(what: str, go_type: str, struct: str = "", fields: tuple[str, ...] = ()) -> str:
    """Go's sentence for a JSON value of the wrong type, in the struct and below the fields that lead to it."""
    if struct or fields:
        return f"json: cannot unmarshal {what} into Go struct field {struct}.{'.'.join(fields)} of type {go_type}"
    return f"json: cannot unmarshal {what} into Go value of type {go_type}"


def identify(value: Any) -> tuple[str, str]:
    """The `apiVersion` and `kind` of a body, each "" where absent. Raises TypeMismatch."""
    reason = None
    if isinstance(value, dict):
        for key, item in value.items():
            if key in ("apiVersion", "kind") and not isinstance(item, str | None):
                reason = cannot_unmarshal(json_type(item), "string", "", (key,))
                break
        else:
            return value.get("apiVersion") or "", value.get("kind") or ""
    elif value is None:
        return "", ""
    else:
        reason = cannot_unmarshal(json_type(value), _TYPE_META)
    raise TypeMismatch(f"couldn't get version/kind; json parse error: {reason}")


def cannot_be_handled(api_version: str, kind: str, expected: str, reason: str) -> str:
    """The message about a body that says what it is, but is not an `expected`."""
    version = api_version.rpartition("/")[2]
    return f"{kind} in version {quote(version)} cannot be handled as a {expected}: {reason}"


def unrecognized(body: bytes, expected: str, reason: str) -> str:
    """The message about a body whose kind cannot be told."""
    return f"the object provided is unrecognized (must be of type {expected}): {reason} ({_summary(body)})"


def _summary(body: bytes) -> str:
    if not body:
        return "<empty>"
    start = body[:_SUMMARY_BYTES_MAX]
    text = start.decode("utf-8", "replace") if body.startswith(b"{") else start.hex()
    return f"{text} ..." if len(body) > _SUMMARY_BYTES_MAX else text
