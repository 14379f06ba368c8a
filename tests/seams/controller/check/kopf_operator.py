"""An operator written with kopf, to be checked: a Greeting becomes a ConfigMap that it owns."""

from __future__ import annotations

import asyncio
from typing import Any

import kopf

from hardpoint.client.client import Client
from hardpoint.client.transport import TransportError
from hardpoint.machinery.errors import ApiError


@kopf.on.startup()
def configure(settings: kopf.OperatorSettings, **_: Any) -> None:
    settings.posting.enabled = False
    settings.networking.error_backoffs = [0.1, 0.2, 0.4, 0.8]
    settings.persistence.progress_storage = kopf.AnnotationsProgressStorage()


@kopf.on.resume("example.com", "v1", "greetings", backoff=0.3)  # type: ignore[arg-type]
@kopf.on.create("example.com", "v1", "greetings", backoff=0.3)  # type: ignore[arg-type]
@kopf.on.update("example.com", "v1", "greetings", backoff=0.3)  # type: ignore[arg-type]
async def make(body: kopf.Body, name: str, namespace: str, spec: kopf.Spec, **_: Any) -> None:
    child: dict[str, Any] = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}
    child["data"] = {"text": str(spec.get("text", ""))}
    kopf.adopt(child, owner=body)
    try:
        async with Client.from_kubeconfig() as client:
            await client.apply(child, field_manager="kopf-greeter", namespace=namespace, force=True)
    except (ApiError, TransportError) as failed:
        raise kopf.TemporaryError(str(failed), delay=0.3) from failed


if __name__ == "__main__":
    asyncio.run(kopf.operator(standalone=True, clusterwide=True))
