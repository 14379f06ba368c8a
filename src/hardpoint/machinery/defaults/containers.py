"""What a container is completed with: pull policy, termination message, ports, probes and references."""

from __future__ import annotations

from typing import Any

from hardpoint.machinery.defaults.images import pull_policy
from hardpoint.machinery.defaults.quantities import round_up

Json = dict[str, Any]


def container(obj: Json) -> None:
    """Complete a container of any sort: regular, init or ephemeral."""
    if "imagePullPolicy" not in obj:
        obj["imagePullPolicy"] = pull_policy(obj.get("image", ""))
    obj.setdefault("terminationMessagePath", "/dev/termination-log")
    obj.setdefault("terminationMessagePolicy", "File")
    for port in obj.get("ports") or ():
        port.setdefault("protocol", "TCP")
    for variable in obj.get("env") or ():
        source = variable.get("valueFrom")
        if source is not None:
            _env_source(source)
    resources(obj.get("resources"))
    for name in ("livenessProbe", "readinessProbe", "startupProbe"):
        probe = obj.get(name)
        if probe is not None:
            _probe(probe)
    lifecycle = obj.get("lifecycle")
    if lifecycle is not None:
        for handler in (lifecycle.get("postStart"), lifecycle.get("preStop")):
            if handler is not None:
                _http_get(handler.get("httpGet"))


def resources(obj: Json | None) -> None:
    """Amounts finer than a thousandth are rounded up."""
    if obj:
        round_up(obj.get("limits"))
        round_up(obj.get("requests"))


def field_ref(obj: Json | None) -> None:
    """A reference to a field of the pod speaks of v1."""
    if obj is not None:
        obj.setdefault("apiVersion", "v1")


def _env_source(obj: Json) -> None:
    field_ref(obj.get("fieldRef"))
    file = obj.get("fileKeyRef")
    if file is not None:
        file.setdefault("optional", False)


def _probe(obj: Json) -> None:
    obj.setdefault("timeoutSeconds", 1)
    obj.setdefault("periodSeconds", 10)
    obj.setdefault("successThreshold", 1)
    obj.setdefault("failureThreshold", 3)
    _http_get(obj.get("httpGet"))
    grpc = obj.get("grpc")
    if grpc is not None and grpc.get("service") is None:
        grpc["service"] = ""


def _http_get(obj: Json | None) -> None:
    if obj is not None:
        obj.setdefault("path", "/")
        obj.setdefault("scheme", "HTTP")
