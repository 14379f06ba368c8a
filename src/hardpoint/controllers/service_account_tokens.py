"""Secrets of type kubernetes.io/service-account-token: each gets a token of its account, and goes with the account.

Such tokens have no end and are what clusters used before TokenRequests; a Secret that somebody makes is still filled.
"""

from __future__ import annotations

from base64 import b64encode
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from hardpoint.client.client import Client
from hardpoint.client.events import Event
from hardpoint.client.resources import Resource
from hardpoint.machinery.errors import ApiError
from hardpoint.runtime.metadata import MetadataFollower, Sink
from hardpoint.runtime.workqueue import WorkQueue

Json = dict[str, Any]
Sign = Callable[[Mapping[str, Any]], Awaitable[str]]
"""Makes a token of claims."""

SECRETS = Resource("v1", "secrets", "Secret")
ACCOUNTS = Resource("v1", "serviceaccounts", "ServiceAccount")
TYPE = "kubernetes.io/service-account-token"
ACCOUNT_NAME, ACCOUNT_UID = "kubernetes.io/service-account.name", "kubernetes.io/service-account.uid"
ISSUER = "kubernetes/serviceaccount"


class ServiceAccountTokens:
    """Fills Secrets that name an account, and deletes those whose account is gone. Hears of them from `follower`."""

    def __init__(self, client: Client, follower: MetadataFollower, sign: Sign, root_ca: str) -> None:
        self.queue: WorkQueue[tuple[str, str]] = WorkQueue("service account tokens")
        self._client = client
        self._sign = sign
        self._root_ca = root_ca
        self._of_account: dict[tuple[str, str], set[str]] = defaultdict(set)
        """The names of the Secrets that name an account."""
        follower.subscribe(self)

    def saw(self, resource: Resource, event: Event) -> None:
        metadata = event.object["metadata"]
        if resource == SECRETS:
            account = (metadata.get("annotations") or {}).get(ACCOUNT_NAME, "")
            if account:
                self._saw_secret(metadata["namespace"], metadata["name"], account, event)
        elif resource == ACCOUNTS:
            for name in self._of_account.get((metadata["namespace"], metadata["name"]), ()):
                self.queue.add((metadata["namespace"], name))

    def lost(self, resource: Resource) -> None:
        if resource == SECRETS:
            self._of_account.clear()

    async def run(self) -> None:
        """Fill and delete until cancelled."""
        await self.queue.work(self._look)

    def _saw_secret(self, namespace: str, name: str, account: str, event: Event) -> None:
        if event.type == "DELETED":
            self._of_account[namespace, account].discard(name)
        else:
            self._of_account[namespace, account].add(name)
            self.queue.add((namespace, name))

    async def _look(self, item: tuple[str, str]) -> None:
        namespace, name = item
        secret = await self._find(SECRETS, namespace, name)
        if secret is None or secret.get("type") != TYPE or "deletionTimestamp" in secret["metadata"]:
            return
        annotations = secret["metadata"].get("annotations") or {}
        account = await self._find(ACCOUNTS, namespace, annotations.get(ACCOUNT_NAME, ""))
        uid = account["metadata"]["uid"] if account is not None else ""
        if not uid or annotations.get(ACCOUNT_UID, uid) != uid:
            await self._client.delete(SECRETS, name, namespace=namespace, uid=secret["metadata"]["uid"])
            return
        assert account is not None, "it has a uid"
        await self._fill(secret, account)

    async def _fill(self, secret: Json, account: Json) -> None:
        metadata, data = secret["metadata"], dict(secret.get("data") or {})
        wanted = {"namespace": metadata["namespace"], **({"ca.crt": self._root_ca} if self._root_ca else {})}
        data |= {key: _encoded(text) for key, text in wanted.items()}
        if not data.get("token"):
            data["token"] = _encoded(await self._sign(claims(account, metadata["name"])))
        annotations = {**metadata["annotations"], ACCOUNT_UID: account["metadata"]["uid"]}
        if data != secret.get("data") or annotations != metadata["annotations"]:
            await self._client.update({**secret, "data": data, "metadata": {**metadata, "annotations": annotations}})

    async def _find(self, resource: Resource, namespace: str, name: str) -> Json | None:
        try:
            return await self._client.get(resource, name, namespace=namespace) if name else None
        except ApiError as refused:
            if refused.code != 404:
                raise
            return None


def claims(account: Json, secret: str) -> Json:
    """What such a token claims."""
    metadata = account["metadata"]
    namespace, name, prefix = metadata["namespace"], metadata["name"], "kubernetes.io/serviceaccount"
    return {
        "iss": ISSUER,
        f"{prefix}/namespace": namespace,
        f"{prefix}/secret.name": secret,
        f"{prefix}/service-account.name": name,
        f"{prefix}/service-account.uid": metadata["uid"],
        "sub": f"system:serviceaccount:{namespace}:{name}",
    }


def _encoded(text: str) -> str:
    return b64encode(text.encode()).decode()


_conforms: type[Sink] = ServiceAccountTokens
