"""What makes a ConfigMap, Secret or Namespace invalid, and the entry for the other small core kinds."""

from __future__ import annotations

import base64
import re
from typing import Any

import orjson

from hardpoint.machinery import names
from hardpoint.machinery.fielderrors import FieldError, at, forbidden, invalid, invalids, required, too_long
from hardpoint.machinery.validation import core_events, core_nodes, core_quotas, rules

Json = dict[str, Any]
Errors = list[FieldError]

SIZE_MAX = 1024 * 1024
FROZEN = "field is immutable when `immutable` is set"
SERVICE_ACCOUNT = "kubernetes.io/service-account.name"
# Types of secret and the keys that one of this type must have.
KEYS_OF_TYPE = {
    "kubernetes.io/dockercfg": (".dockercfg",),
    "kubernetes.io/dockerconfigjson": (".dockerconfigjson",),
    "kubernetes.io/ssh-auth": ("ssh-privatekey",),
    "kubernetes.io/tls": ("tls.crt", "tls.key"),
}
DOCKER_TYPES = ("kubernetes.io/dockercfg", "kubernetes.io/dockerconfigjson")


_LEVEL = (re.compile("privileged|baseline|restricted"), "must be one of privileged, baseline, restricted")
_LEVEL_VERSION = (re.compile(r"latest|v1\.(0|[1-9][0-9]*)", re.ASCII), 'must be "latest" or "v1.x"')
# How strictly pods are looked at in a namespace: the labels that say so, and what they may say.
POD_SECURITY = {
    f"pod-security.kubernetes.io/{mode}{suffix}": rule
    for mode in ("enforce", "audit", "warn")
    for suffix, rule in (("", _LEVEL), ("-version", _LEVEL_VERSION))
}


def _config_map(obj: Json, old: Json | None = None) -> Errors:
    errors: Errors = []
    if old is not None:
        _frozen(errors, obj, old, ("data", "binaryData"))
    data, binary = obj.get("data") or {}, obj.get("binaryData") or {}
    for key in data:
        if wrong := names.config_map_key(key):
            errors += invalids(at("data", key=key), key, wrong)
        if key in binary:
            errors.append(invalid(at("data", key=key), key, "duplicate of key present in binaryData"))
    for key in binary:
        errors += invalids(at("binaryData", key=key), key, names.config_map_key(key))
    size = sum(names.length(value) for value in data.values()) + sum(
        _decoded_length(value) for value in binary.values()
    )
    if size > SIZE_MAX:
        errors.append(too_long("", SIZE_MAX))
    return errors


def _frozen(errors: Errors, obj: Json, old: Json, fields: tuple[str, ...]) -> None:
    if not old.get("immutable"):
        return
    if not obj.get("immutable"):
        errors.append(forbidden("immutable", FROZEN))
    errors += [forbidden(field, FROZEN) for field in fields if (obj.get(field) or {}) != (old.get(field) or {})]


def _decoded_length(text: str | None) -> int:
    """How many bytes a base64 text stands for."""
    return len(text) * 3 // 4 - text.count("=", -2) if text else 0


def _secret(obj: Json, old: Json | None = None) -> Errors:
    errors: Errors = []
    if old is not None:
        _frozen(errors, obj, old, ("data",))
    data = obj.get("data") or {}
    for key in data:
        errors += invalids(at("data", key=key), key, names.config_map_key(key))
    if sum(_decoded_length(value) for value in data.values()) > SIZE_MAX:
        errors.append(too_long("data", SIZE_MAX))
    _secret_type(errors, obj, data)
    if old is not None:
        errors += rules.immutable("type", obj.get("type"), old.get("type"))
    return errors


def _secret_type(errors: Errors, obj: Json, data: Json) -> None:
    kind = obj.get("type", "")
    if kind == "kubernetes.io/service-account-token":
        if not (obj["metadata"].get("annotations") or {}).get(SERVICE_ACCOUNT):
            errors.append(required(at("metadata.annotations", key=SERVICE_ACCOUNT)))
    elif kind == "kubernetes.io/basic-auth" and data.keys().isdisjoint(("username", "password")):
        errors += [required(at("data", key=key)) for key in ("username", "password")]
    for key in KEYS_OF_TYPE.get(kind, ()):
        is_missing = not data.get(key) if key == "ssh-privatekey" else key not in data
        if is_missing:
            errors.append(required(at("data", key=key)))
        elif kind in DOCKER_TYPES and (problem := _json_problem(data[key] or "")):
            errors.append(invalid(at("data", key=key), "<secret contents redacted>", problem))


def _json_problem(encoded: str) -> str:
    """Why a base64 text is not a JSON object, as Go tells it; the secret itself is not told."""
    text = base64.b64decode(encoded)
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        if error.pos >= len(text):
            return "unexpected end of JSON input"
        character = text[error.pos : error.pos + 1].decode("latin-1")
        return f"invalid character '{character}' looking for beginning of value"
    if isinstance(value, dict) or value is None:
        return ""
    told = {list: "array", str: "string", bool: "bool"}.get(type(value), "number")
    return f"json: cannot unmarshal {told} into Go value of type map[string]interface {{}}"


def _namespace(obj: Json, old: Json | None = None) -> Errors:
    errors: Errors = []
    for finalizer in obj["spec"].get("finalizers") or ():
        errors += invalids("spec.finalizers", finalizer, names.qualified_name(finalizer))
        if "/" not in finalizer and finalizer not in ("kubernetes", "orphan", "foregroundDeletion"):
            detail = "name is neither a standard finalizer name nor is it fully qualified"
            errors.append(invalid("spec.finalizers", finalizer, detail))
    labels = obj["metadata"].get("labels") or {}
    before = (old["metadata"].get("labels") or {}) if old else {}
    for label in POD_SECURITY:
        if label in labels and labels[label] != before.get(label):
            form, detail = POD_SECURITY[label]
            if not form.fullmatch(labels[label]):
                errors.append(invalid(at("metadata.labels", key=label), labels[label], detail))
    return errors


def _namespace_status(obj: Json, old: Json) -> Errors:
    is_going = "deletionTimestamp" in obj["metadata"]
    phase, wanted = (obj.get("status") or {}).get("phase", ""), "Terminating" if is_going else "Active"
    if phase == wanted:
        return []
    detail = f"may only be '{wanted}' if `deletionTimestamp` is {'not ' if is_going else ''}empty"
    return [invalid("status.Phase", phase, detail)]


CREATE = {
    "ConfigMap": _config_map,
    "Secret": _secret,
    "Namespace": _namespace,
    "Event": core_events.on_create,
    "LimitRange": core_quotas.limit_range,
    "ResourceQuota": core_quotas.on_create,
    "Node": core_nodes.on_create,
}
UPDATE = {
    "ConfigMap": _config_map,
    "Secret": _secret,
    "Namespace": _namespace,
    "Event": core_events.on_update,
    "LimitRange": core_quotas.limit_range,
    "ResourceQuota": core_quotas.on_update,
    "Node": core_nodes.on_update,
}
SUBRESOURCES = {"Namespace": {"status": _namespace_status}, "Node": {"status": core_nodes.on_update}}
