"""The ConfigMap `kube-root-ca.crt`, by which pods recognise the API server, in every active namespace."""

from __future__ import annotations

from typing import Any

from hardpoint.client.client import Client
from hardpoint.client.resources import Resource
from hardpoint.controllers.per_namespace import PerNamespace
from hardpoint.machinery.errors import ApiError
from hardpoint.runtime.metadata import MetadataFollower, Sink

Json = dict[str, Any]

DESCRIPTION = "kubernetes.io/description"
# Kubernetes' own words: tools compare them.
_DESCRIBED = (
    "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the "
    "internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes "
    "clusters."
)


class RootCa(PerNamespace):
    """Publishes `ca_pem`, and puts it right again where somebody changed or deleted it."""

    resource = Resource("v1", "configmaps", "ConfigMap")
    name = "kube-root-ca.crt"

    def __init__(self, client: Client, follower: MetadataFollower, ca_pem: str) -> None:
        super().__init__(client, follower)
        self._data = {"ca.crt": ca_pem}

    async def ensure(self, namespace: str) -> None:
        try:
            found = await self._client.get(self.resource, self.name, namespace=namespace)
        except ApiError as refused:
            if refused.code != 404:
                raise
            await self._client.create(self._wanted(), resource=self.resource, namespace=namespace)
            return
        annotations = found["metadata"].get("annotations") or {}
        if found.get("data") == self._data and annotations.get(DESCRIPTION):
            return
        found["metadata"]["annotations"] = {**annotations, DESCRIPTION: _DESCRIBED}
        await self._client.update({**found, "data": self._data})

    def _wanted(self) -> Json:
        metadata = {"name": self.name, "annotations": {DESCRIPTION: _DESCRIBED}}
        return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": self._data}


_conforms: type[Sink] = RootCa
