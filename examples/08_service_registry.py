"""Registers the endpoints of Services in Consul's catalogue, for programs outside of the cluster.

CONSUL=http://127.0.0.1:8500 hardpoint run examples/08_service_registry.py, and kubectl label service web consul=yes
"""

import json
import os
from itertools import product
from typing import Any
from urllib.request import Request, urlopen

from hardpoint import App
from hardpoint.controller import PlainContext, Watch
from hardpoint.objects import EndpointSlice, Service

CATALOG = f"{os.environ.get('CONSUL', 'http://127.0.0.1:8500')}/v1/catalog"
NODE, SERVICE_NAME = "kubernetes", "kubernetes.io/service-name"

app = App("consul")


def service_of(part: EndpointSlice) -> list[str]:
    return [part.metadata.labels[SERVICE_NAME]] if SERVICE_NAME in part.metadata.labels else []


def deregister(service: Service, ctx: PlainContext) -> None:
    for key in registered(service):
        ask("PUT", "/deregister", {"Node": NODE, "ServiceID": key})


@app.controller(Service, label_selector="consul", watches=[Watch(EndpointSlice, to=service_of)], finalize=deregister)
def register(service: Service, ctx: PlainContext) -> None:
    """Have the catalogue say what the cluster says."""
    name, namespace, stale = service.metadata.name, service.metadata.namespace, registered(service)
    for part in ctx.list(EndpointSlice, label_selector=f"{SERVICE_NAME}={name}"):
        for endpoint in part.endpoints:
            if endpoint.conditions.ready is False:
                continue
            for address, port in product(endpoint.addresses, part.ports):
                key = f"{namespace}/{name}/{address}:{port.port}"
                stale.discard(key)
                told = {"ID": key, "Service": name, "Port": port.port, "Meta": {"namespace": namespace}}
                ask("PUT", "/register", {"Node": NODE, "Address": address, "Service": {**told, "Address": address}})
    for key in stale:
        ask("PUT", "/deregister", {"Node": NODE, "ServiceID": key})


def registered(service: Service) -> set[str]:
    found = ask("GET", f"/service/{service.metadata.name}")
    return {each["ServiceID"] for each in found if each["ServiceMeta"].get("namespace") == service.metadata.namespace}


def ask(method: str, path: str, body: Any = None) -> Any:
    request = Request(CATALOG + path, json.dumps(body).encode() if body else None, method=method)
    with urlopen(request, timeout=10) as answer:
        return json.load(answer)
