"""Definitions to try things with, and what waiting for them takes."""

from __future__ import annotations

import asyncio
from typing import Any

from tests.apiserver.asking import Api

Json = dict[str, Any]

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
GADGETS = "/apis/shop.example.com/v1/namespaces/default/gadgets"
STRING: Json = {"type": "string"}
INTEGER: Json = {"type": "integer"}
PATIENCE_SECONDS = 10.0

SPEC: Json = {
    "type": "object",
    "properties": {
        "color": {"type": "string", "enum": ["red", "blue"], "default": "red"},
        "size": INTEGER,
        "tags": {"type": "array", "items": STRING, "x-kubernetes-list-type": "set"},
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    },
}
STATUS: Json = {"type": "object", "properties": {"phase": STRING, "size": INTEGER, "selector": STRING}}
SCALE: Json = {
    "specReplicasPath": ".spec.size",
    "statusReplicasPath": ".status.size",
    "labelSelectorPath": ".status.selector",
}


def version(name: str = "v1", spec: Json = SPEC, **more: Any) -> Json:
    """A version that is served and stored unless `more` says otherwise."""
    schema = {"type": "object", "properties": {"spec": spec, "status": STATUS}}
    return {"name": name, "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}} | more


def definition(*versions: Json, plural: str = "gadgets", kind: str = "Gadget", **spec: Any) -> Json:
    group = spec.pop("group", "shop.example.com")
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"plural": plural, "kind": kind},
            "versions": list(versions) or [version(subresources={"status": {}, "scale": SCALE})],
        }
        | spec,
    }


def gadget(name: str = "a", *, version: str = "v1", **parts: Any) -> Json:
    return {"apiVersion": f"shop.example.com/{version}", "kind": "Gadget", "metadata": {"name": name}} | parts


async def define(api: Api, body: Json | None = None) -> Json:
    """Create a definition and wait until it is served; answers with it as it is then."""
    body = body or definition()
    await api.ok("POST", DEFINITIONS, body)
    return await until(api, body["metadata"]["name"], "Established", "True")


async def until(api: Api, name: str, condition: str, status: str) -> Json:
    """The definition once it has a condition and the server has heard of it."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            found = await api.ok("GET", f"{DEFINITIONS}/{name}")
            for each in found["status"].get("conditions") or ():
                if (each["type"], each["status"]) == (condition, status):
                    await heard(api)
                    return found
            await heard(api)


async def heard(api: Api) -> None:
    """Wait until the server's own parts have been told of every write so far."""
    await api.server.hub.wait_until_reached((await _revision(api)), seconds=PATIENCE_SECONDS)
    await asyncio.sleep(0)


async def until_gone(api: Api, path: str) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while (await api.send("GET", path)).status != 404:
            await heard(api)


async def _revision(api: Api) -> int:
    listed = await api.ok("GET", f"{DEFINITIONS}?limit=1")
    return int(listed["metadata"]["resourceVersion"])
