"""What makes probes and lifecycle hooks invalid: how a container is asked whether it is well, and told that it ends."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hardpoint.machinery import names
from hardpoint.machinery.fielderrors import FieldError, forbidden, invalid, invalids, not_supported, required
from hardpoint.machinery.validation.metadata import non_negative

Json = dict[str, Any]
Errors = list[FieldError]

_COUNTS = ("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold")
_SCHEMES = ("HTTP", "HTTPS")


def probes(errors: Errors, path: str, container: Json, grace_seconds: int | None) -> None:
    """The three probes of a container. Only readiness may ask for more than one success in a row."""
    for name in ("livenessProbe", "readinessProbe", "startupProbe"):
        probe = container.get(name)
        if probe is None:
            continue
        place = f"{path}.{name}"
        _probe(errors, place, probe, grace_seconds)
        if name != "readinessProbe":
            if probe.get("successThreshold") != 1:
                errors.append(invalid(f"{place}.successThreshold", probe.get("successThreshold", 0), "must be 1"))
        elif "terminationGracePeriodSeconds" in probe:
            grace = probe["terminationGracePeriodSeconds"]
            errors.append(
                invalid(f"{place}.terminationGracePeriodSeconds", grace, "must not be set for readinessProbes")
            )


def lifecycle(errors: Errors, path: str, hooks: Json, grace_seconds: int | None) -> None:
    for name in ("postStart", "preStop"):
        handler = hooks.get(name)
        if handler is not None:
            _handler(errors, f"{path}.{name}", handler, _HOOKS, grace_seconds)


def port_number_or_name(errors: Errors, path: str, port: int | str) -> None:
    """A port by number, or by the name a container gave it."""
    wrong = names.port_number(port) if isinstance(port, int) else names.port_name(port)
    if wrong:
        errors += invalids(path, port, wrong)


def _probe(errors: Errors, path: str, probe: Json, grace_seconds: int | None) -> None:
    _handler(errors, path, probe, _PROBES, grace_seconds)
    for name in _COUNTS:
        if probe.get(name, 0) < 0:
            non_negative(errors, f"{path}.{name}", probe[name])
    grace = probe.get("terminationGracePeriodSeconds")
    if grace is not None and grace <= 0:
        errors.append(invalid(f"{path}.terminationGracePeriodSeconds", grace, "must be greater than 0"))


def _handler(
    errors: Errors, path: str, handler: Json, actions: Mapping[str, Action], grace_seconds: int | None
) -> None:
    """Exactly one action; the first one named is checked, the others are refused."""
    found = 0
    for name, check in actions.items():
        action = handler.get(name)
        if action is None:
            continue
        found += 1
        if found > 1:
            errors.append(forbidden(f"{path}.{name}", "may not specify more than 1 handler type"))
        else:
            check(errors, f"{path}.{name}", action, grace_seconds)
    if not found:
        errors.append(required(path, "must specify a handler type"))


def _exec(errors: Errors, path: str, action: Json, _: int | None) -> None:
    if not action.get("command"):
        errors.append(required(f"{path}.command"))


def _http_get(errors: Errors, path: str, action: Json, _: int | None) -> None:
    if not action.get("path"):
        errors.append(required(f"{path}.path"))
    port_number_or_name(errors, f"{path}.port", action.get("port", 0))
    if action.get("scheme", "") not in _SCHEMES:
        errors.append(not_supported(f"{path}.scheme", action.get("scheme", ""), _SCHEMES))
    for header in action.get("httpHeaders") or ():
        name = header.get("name", "")
        if wrong := names.http_header_name(name):
            errors += invalids(f"{path}.httpHeaders", name, wrong)


def _tcp_socket(errors: Errors, path: str, action: Json, _: int | None) -> None:
    port_number_or_name(errors, f"{path}.port", action.get("port", 0))


def _grpc(errors: Errors, path: str, action: Json, _: int | None) -> None:
    port_number_or_name(errors, f"{path}.port", action.get("port", 0))


def _sleep(errors: Errors, path: str, action: Json, grace_seconds: int | None) -> None:
    seconds = action.get("seconds", 0)
    if grace_seconds is not None and not 0 <= seconds <= grace_seconds:
        told = f"must be non-negative and less than terminationGracePeriodSeconds ({grace_seconds})"
        errors.append(invalid(path, seconds, told))


Action = Callable[[Errors, str, Json, int | None], None]
_PROBES: Mapping[str, Action] = {"exec": _exec, "httpGet": _http_get, "tcpSocket": _tcp_socket, "grpc": _grpc}
_HOOKS: Mapping[str, Action] = {"exec": _exec, "httpGet": _http_get, "tcpSocket": _tcp_socket, "sleep": _sleep}
