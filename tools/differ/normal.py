"""An answer without what no two servers have in common: uids, times, versions, random names, addresses, owners.

What is left is a list that can be compared: `[code, object, warnings]`, or `[code, reason, message, causes, warnings]`.
"""

from __future__ import annotations

import re
from typing import Any

import orjson

from hardpoint.client.transport import Answer

_VOLATILE = ("creationTimestamp", "managedFields", "resourceVersion", "uid")
# The real server's own controllers fill the status of these, some time after the answer.
_STATUS_BY_CONTROLLERS = frozenset(
    ("APIService", "CustomResourceDefinition", "FlowSchema", "PriorityLevelConfiguration", "ServiceCIDR")
)
_ADDRESSES = ("clusterIP", "clusterIPs", "healthCheckNodePort")
_REPLACED = (
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"), "<uid>"),
    (re.compile(r"\bkube-api-access-[a-z0-9]{5}\b"), "kube-api-access-<x>"),
    (re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"), "<time>"),
    # The whole object is repeated here, in an order and with managed fields that are the server's own.
    (re.compile(r'patch: Invalid value: "(?:[^"\\]|\\.)*"'), "patch: Invalid value: <patched>"),
    # What an update may not change is followed by what it did change, in a form of the server's own.
    (
        re.compile(r"(previously negative\)|after creation|for bound claims)(?:\n.*|(?=$|]))", re.DOTALL),
        r"\1 <changes>",
    ),
    (re.compile(r"(ResourceVersion in record) \(\d+\)"), r"\1 (<version>)"),
    (re.compile(r'in scheme \\?"[^"]*\\?"'), "in scheme <scheme>"),
    (re.compile(r"\beyJ[\w-]+\.[\w-]+\.[\w-]+"), "<token>"),
)
_WARNING = re.compile(r'299 [^ ]+ "((?:[^"\\]|\\.)*)"')


def normalized(answer: Answer) -> list[Any]:
    """An answer in comparable form."""
    text = answer.body.decode(errors="replace")
    warnings = sorted(_without_random(warning) for warning in _WARNING.findall(answer.headers.get("warning", "")))
    try:
        body = orjson.loads(text)
    except orjson.JSONDecodeError:
        return [answer.status, _without_random(text), warnings]
    if answer.status < 300 and body.get("kind") != "Status":
        return [answer.status, _object(body), warnings]
    details = body.get("details") or {}
    causes = sorted(
        [str(cause.get("reason")), str(cause.get("field")), _cause_message(cause)]
        for cause in details.get("causes") or []
    )
    about = {name: value for name, value in details.items() if name not in ("causes", "uid")}
    return [answer.status, body.get("reason"), _without_random(str(body.get("message"))), [about, *causes], warnings]


def _cause_message(cause: Any) -> str:
    whole = _without_random(f"{cause.get('field')}: {cause.get('message')}")
    return whole.partition(": ")[2]


def _without_random(text: str) -> str:
    for pattern, name in _REPLACED:
        text = pattern.sub(name, text)
    return text


def _object(obj: Any) -> Any:
    for item in obj.get("items") or []:
        _object(item)
    metadata = obj.get("metadata") or {}
    for field in _VOLATILE:
        metadata.pop(field, None)
    if metadata.get("generateName"):
        metadata["name"] = f"{metadata['generateName']}<x>"
    if obj.get("kind") in _STATUS_BY_CONTROLLERS:
        obj.pop("status", None)
    if obj.get("kind") == "Service":
        _without_addresses(obj.get("spec") or {})
    return _scrubbed(obj)


def _without_addresses(spec: Any) -> None:
    for field in _ADDRESSES:
        if spec.get(field) not in (None, "None", ["None"]):
            spec[field] = f"<{field}>"
    for port in spec.get("ports") or []:
        if port.get("nodePort"):
            port["nodePort"] = "<nodePort>"


def _scrubbed(value: Any) -> Any:
    """The random parts of strings, wherever they are. Empty and absent stay different: they are part of an answer."""
    if isinstance(value, str):
        return _without_random(value)
    if isinstance(value, dict):
        return {name: _scrubbed(below) for name, below in value.items()}
    if isinstance(value, list):
        return [_scrubbed(below) for below in value]
    return value
