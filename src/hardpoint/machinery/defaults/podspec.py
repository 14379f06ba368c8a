"""What the spec of a pod is completed with, in a pod itself or in the template of one."""

from __future__ import annotations

from typing import Any

from hardpoint.machinery.defaults.containers import container, resources
from hardpoint.machinery.defaults.quantities import round_up
from hardpoint.machinery.defaults.volumes import volume

Json = dict[str, Any]


def template(obj: Json) -> None:
    """Complete the template of a pod."""
    pod_spec(obj.setdefault("spec", {}))


def pod_spec(obj: Json) -> None:
    """Complete a pod's spec. `serviceAccount`, the old name, always says the same as `serviceAccountName`."""
    for item in obj.get("volumes") or ():
        volume(item)
    for group in ("initContainers", "containers", "ephemeralContainers"):
        for item in obj.get(group) or ():
            container(item)
    account = obj.get("serviceAccountName") or obj.get("serviceAccount")
    if account:
        obj["serviceAccountName"] = obj["serviceAccount"] = account
    obj.setdefault("dnsPolicy", "ClusterFirst")
    obj.setdefault("restartPolicy", "Always")
    obj.setdefault("securityContext", {})
    obj.setdefault("terminationGracePeriodSeconds", 30)
    obj.setdefault("schedulerName", "default-scheduler")
    round_up(obj.get("overhead"))
    resources(obj.get("resources"))
