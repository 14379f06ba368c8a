"""What pods and pod templates are completed with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hardpoint.machinery.defaults import podspec

Json = dict[str, Any]


def _pod(obj: Json) -> None:
    spec = obj.setdefault("spec", {})
    if spec.get("terminationGracePeriodSeconds", 0) < 0:
        spec["terminationGracePeriodSeconds"] = 1
    for group in ("containers", "initContainers"):
        for container in spec.get(group) or ():
            _requests_from_limits(container)
            if spec.get("hostNetwork"):
                _host_ports(container)
    spec.setdefault("enableServiceLinks", True)
    podspec.pod_spec(spec)
    _addresses(obj.get("status"))


def _requests_from_limits(container: Json) -> None:
    """Who limits a resource and asks for none of it asks for all of it."""
    resources = container.get("resources")
    if resources and resources.get("limits"):
        resources["requests"] = {**resources["limits"], **resources.get("requests", {})}


def _host_ports(container: Json) -> None:
    for port in container.get("ports") or ():
        if not port.get("hostPort") and port.get("containerPort"):
            port["hostPort"] = port["containerPort"]


def _addresses(status: Json | None) -> None:
    """`podIP` and the first of `podIPs` are the same address, told twice."""
    if not status:
        return
    address, addresses = status.get("podIP"), status.get("podIPs")
    if address and (not addresses or addresses[0].get("ip") != address):
        status["podIPs"] = [{"ip": address}]
    elif addresses and not address:
        status["podIP"] = addresses[0].get("ip", "")


def _pod_template(obj: Json) -> None:
    podspec.template(obj.setdefault("template", {}))


DEFAULTS: Mapping[str, Callable[[Json], None]] = {"Pod": _pod, "PodTemplate": _pod_template}
