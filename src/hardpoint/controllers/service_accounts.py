"""The ServiceAccount `default`, which pods act as that name no other, in every active namespace."""

from __future__ import annotations

from hardpoint.client.resources import Resource
from hardpoint.controllers.per_namespace import PerNamespace
from hardpoint.machinery.errors import ApiError
from hardpoint.runtime.metadata import Sink


class ServiceAccounts(PerNamespace):
    """Makes the account where it is missing, and leaves it alone where it is not: it may have been given secrets."""

    resource = Resource("v1", "serviceaccounts", "ServiceAccount")
    name = "default"

    async def ensure(self, namespace: str) -> None:
        try:
            await self._client.get(self.resource, self.name, namespace=namespace)
        except ApiError as refused:
            if refused.code != 404:
                raise
            account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": self.name}}
            await self._client.create(account, resource=self.resource, namespace=namespace)


_conforms: type[Sink] = ServiceAccounts
