"""The objects a cluster has from its first moment, made through the front door like everybody's."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from ipaddress import ip_address
from typing import Any

import orjson

from hardpoint.apiserver.allotment import SERVICE_NETWORK
from hardpoint.apiserver.authentication.contract import MASTERS
from hardpoint.machinery.errors import ApiError
from hardpoint.machinery.messages import Handler, Peer, Request, User

Json = dict[str, Any]

NAMESPACES = ("default", "kube-system", "kube-public", "kube-node-lease")
SERVICE_IP = str(SERVICE_NETWORK[1])
_LABELS = {"component": "apiserver", "provider": "kubernetes"}
_SELF = Peer("in-process", User("system:apiserver", (MASTERS,)))
_PRIORITIES = {
    "system-node-critical": (
        2000001000,
        "Used for system critical pods that must not be moved from their current node.",
    ),
    "system-cluster-critical": (
        2000000000,
        "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.",
    ),
}


async def bootstrap(handle: Handler, host: str, port: int) -> None:
    """Make what is missing, and point the `kubernetes` Service at this server's address.

    A loopback address leads nowhere from inside a pod and is refused as an endpoint; the Service then has none.
    """
    await asyncio.gather(*(_ensure(handle, "/api/v1/namespaces", _namespace(name)) for name in NAMESPACES))
    services = "/api/v1/namespaces/default/services"
    await asyncio.gather(
        _ensure(handle, "/apis/networking.k8s.io/v1/servicecidrs", _service_cidr()),
        _ensure(handle, services, _service(port)),
        *(_ensure(handle, "/apis/scheduling.k8s.io/v1/priorityclasses", each) for each in _priority_classes()),
    )
    if ip_address(host).is_loopback:
        return
    await asyncio.gather(
        put(handle, "/api/v1/namespaces/default/endpoints", _endpoints(host, port)),
        put(handle, "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices", _endpoint_slice(host, port)),
    )


async def _ensure(handle: Handler, collection: str, obj: Json) -> None:
    status, _ = await _send(handle, "GET", f"{collection}/{obj['metadata']['name']}", None)
    if status == 404:
        await _send(handle, "POST", collection, obj)


async def put(handle: Handler, collection: str, obj: Json) -> None:
    """Make an object as given, whatever it was. One that says the same already is left alone: a write is not free."""
    path = f"{collection}/{obj['metadata']['name']}"
    status, found = await _send(handle, "GET", path, None)
    if status == 404:
        await _send(handle, "POST", collection, obj)
    elif any(found.get(name) != value for name, value in obj.items() if name != "metadata"):
        await _send(handle, "PUT", path, obj)


async def _send(handle: Handler, method: str, path: str, obj: Json | None) -> tuple[int, Json]:
    headers = {"content-type": "application/json", "user-agent": "kube-apiserver"}
    response = await handle(Request(method, path, "", headers, orjson.dumps(obj) if obj else b"", _SELF))
    answer: Json = orjson.loads(response.body)
    if response.status >= 400 and response.status not in (404, 409):
        raise ApiError.from_status(answer)
    return response.status, answer


def _namespace(name: str) -> Json:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def _service_cidr() -> Json:
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "ServiceCIDR",
        "metadata": {"name": "kubernetes"},
        "spec": {"cidrs": [str(SERVICE_NETWORK)]},
    }


def _priority_classes() -> Iterable[Json]:
    for name, (value, description) in _PRIORITIES.items():
        yield {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": name},
            "value": value,
            "description": description,
        }


def _service(port: int) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "kubernetes", "namespace": "default", "labels": _LABELS},
        "spec": {
            "clusterIP": SERVICE_IP,
            "ports": [{"name": "https", "port": 443, "protocol": "TCP", "targetPort": port}],
        },
    }


def _endpoints(host: str, port: int) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Endpoints",
        "metadata": {
            "name": "kubernetes",
            "namespace": "default",
            "labels": {"endpointslice.kubernetes.io/skip-mirror": "true"},
        },
        "subsets": [{"addresses": [{"ip": host}], "ports": [{"name": "https", "port": port, "protocol": "TCP"}]}],
    }


def _endpoint_slice(host: str, port: int) -> Json:
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {
            "name": "kubernetes",
            "namespace": "default",
            "labels": {"kubernetes.io/service-name": "kubernetes"},
        },
        "addressType": "IPv4",
        "endpoints": [{"addresses": [host], "conditions": {"ready": True}}],
        "ports": [{"name": "https", "port": port, "protocol": "TCP"}],
    }
