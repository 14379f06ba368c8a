"""What the server takes out of a pod's spec, in a pod or in a template: fields whose features are off in v1.37."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]

_SPEC = ("evictionResponders", "schedulingGroup")
_GROUPS = ("initContainers", "containers", "ephemeralContainers")
_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_OLD_ANNOTATIONS = frozenset(
    f"pod.{stage}.kubernetes.io/init-container{what}" for stage in ("alpha", "beta") for what in ("s", "-statuses")
)


def drop_disabled(spec: Json, metadata: Json) -> None:
    """Take out what no component of this version would understand."""
    for field in _SPEC:
        spec.pop(field, None)
    for group in _GROUPS:
        for container in spec.get(group) or ():
            _container(container)
    for volume in spec.get("volumes") or ():
        _volume(volume)
    if annotations := metadata.get("annotations"):
        for key in _OLD_ANNOTATIONS & annotations.keys():
            del annotations[key]


def drop_disabled_from_template(template: Json) -> None:
    drop_disabled(template.get("spec") or {}, template.get("metadata") or {})


def _container(container: Json) -> None:
    for name in _PROBES:
        probe = container.get(name)
        if probe is not None:
            _drop(probe.get("httpGet"), "protocol")
            _drop(probe.get("grpc"), "mode")
    lifecycle = container.get("lifecycle")
    if lifecycle is not None:
        if lifecycle.pop("stopSignal", None) is not None and not lifecycle:
            del container["lifecycle"]
        for name in ("postStart", "preStop"):
            _drop((lifecycle.get(name) or {}).get("httpGet"), "protocol")
    for mount in container.get("volumeMounts") or ():
        mount.pop("bindMountOptions", None)


def _volume(volume: Json) -> None:
    _drop(volume.get("emptyDir"), "mode")
    for name in ("secret", "configMap", "downwardAPI"):
        _without_user(volume.get(name))
    projected = volume.get("projected")
    if projected is not None:
        projected.pop("defaultUser", None)
        for source in projected.get("sources") or ():
            for part in source.values():
                _without_user(part)


def _without_user(source: Json | None) -> None:
    if source is None:
        return
    source.pop("defaultUser", None)
    source.pop("user", None)
    for item in source.get("items") or ():
        item.pop("user", None)


def _drop(obj: Json | None, field: str) -> None:
    if obj is not None:
        obj.pop(field, None)
