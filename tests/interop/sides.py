"""The same requests to two servers, in the name of anybody, and their answers made comparable."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import orjson

from hardpoint.client.client import Client

NODE, ADMIN = "system:node:mine", ""
MERGE = "application/merge-patch+json"
UID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_VARIABLE = re.compile(r"<uid:([a-z]+)/([a-z-]+)>")
_INSIDE = "/api/v1/namespaces/default"
_PATHS = {
    "nodes": "/api/v1/nodes",
    "pods": f"{_INSIDE}/pods",
    "serviceaccounts": f"{_INSIDE}/serviceaccounts",
}


@dataclass(frozen=True)
class Ask:
    """A request, made by the admin in the name of `user`; `<uid:nodes/mine>` in its body is that object's uid."""

    method: str
    path: str
    body: Any = None
    user: str = NODE
    media: str = "application/json"

    def __str__(self) -> str:
        return f"{self.user or 'admin'} {self.method} {self.path} {orjson.dumps(self.body).decode()[:300]}"


class Side:
    """One of the two servers."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def answer(self, ask: Ask) -> tuple[int, str]:
        """The code, and what a review or a refusal says, with every uid made the same."""
        body = b"" if ask.body is None else orjson.dumps(ask.body)
        for resource, name in set(_VARIABLE.findall(body.decode())):
            found = orjson.loads((await self._client.raw("GET", f"{_PATHS[resource]}/{name}")).body)
            body = body.replace(f"<uid:{resource}/{name}>".encode(), found["metadata"]["uid"].encode())
        headers = {"content-type": ask.media, "accept": "application/json"}
        if ask.user:
            headers |= {"impersonate-user": ask.user}
            if ask.user.startswith("system:node:"):
                headers |= {"impersonate-group": "system:nodes"}
        path, _, query = ask.path.partition("?")
        asked = dict(part.split("=", 1) for part in query.split("&") if part)
        answered = await self._client.raw(ask.method, path, query=asked, headers=headers, body=body)
        said = ""
        if answered.status >= 400:
            said = orjson.loads(answered.body)["message"]
        elif path.endswith("reviews"):
            said = str(orjson.loads(answered.body)["status"])
        return answered.status, UID.sub("<uid>", said)


def admin(method: str, path: str, body: Any = None) -> Ask:
    return Ask(method, path, body, ADMIN)
