"""How the server writes down what became of a definition: through the front door, under kube-apiserver's name."""

from __future__ import annotations

from typing import Any

import orjson

from hardpoint.apiserver.authentication.contract import MASTERS
from hardpoint.machinery.errors import ApiError
from hardpoint.machinery.jsontext import encode
from hardpoint.machinery.messages import Handler, Peer, Request, User

Json = dict[str, Any]

_SELF = Peer("in-process", User("system:apiserver", (MASTERS,)))
_HEADERS = {"content-type": "application/json", "user-agent": "kube-apiserver"}
_PATH = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


class Writer:
    """Sends requests to the server itself."""

    def __init__(self, handle: Handler) -> None:
        self._handle = handle

    async def status(self, definition: Json) -> Json | None:
        """Store the status and finalizers of a definition; None if it is gone or has changed meanwhile."""
        path = f"{_PATH}/{definition['metadata']['name']}/status"
        answer = await self.send("PUT", path, definition)
        return answer if answer.get("kind") != "Status" else None

    async def send(self, method: str, path: str, body: Json | None = None) -> Json:
        """The answer, also to say that there is nothing or that somebody was faster. Raises ApiError otherwise."""
        content = encode(body) if body is not None else b""
        response = await self._handle(Request(method, path, "", dict(_HEADERS), content, _SELF))
        answer: Json = orjson.loads(response.body)
        if response.status >= 400 and response.status not in (404, 409):
            raise ApiError.from_status(answer)
        return answer
