"""What the controllers among the examples talk to outside of a cluster: small servers, over real sockets."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

Json = dict[str, Any]


class Outside:
    """An HTTP server outside of the cluster; whoever waits looks again when it was asked."""

    def __init__(self, answer: Callable[[str, str, Any], Any]) -> None:
        self.changed: Callable[[], None] = lambda: None
        outside = self

        class Handler(BaseHTTPRequestHandler):
            def _answer(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                found = answer(self.command, urlsplit(self.path).path, json.loads(body or b"null"))
                self.send_response(200)
                self.end_headers()
                self.wfile.write(json.dumps(found).encode())
                outside.changed()

            do_GET = do_PUT = do_DELETE = _answer  # noqa: N815 The names are http.server's.

            def log_message(self, *_: Any) -> None:
                """Tests are quiet."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class Catalogue:
    """The part of Consul's HTTP API that is about the catalogue."""

    def __init__(self) -> None:
        self.services: dict[tuple[str, str], Json] = {}

    def __call__(self, method: str, path: str, body: Any) -> Any:
        if method == "PUT" and path == "/v1/catalog/register":
            told = body["Service"]
            entry = {"Node": body["Node"], "Address": body["Address"], "ServiceID": told["ID"]}
            entry |= {f"Service{field}": told[field] for field in ("Address", "Port", "Meta")}
            self.services[body["Node"], told["ID"]] = entry | {"ServiceName": told["Service"]}
            return True
        if method == "PUT" and path == "/v1/catalog/deregister":
            self.services.pop((body["Node"], body["ServiceID"]), None)
            return True
        name = path.removeprefix("/v1/catalog/service/")
        return [entry for entry in self.services.values() if entry["ServiceName"] == name]

    @property
    def addresses(self) -> set[str]:
        return {f"{each['ServiceAddress']}:{each['ServicePort']}" for each in self.services.values()}


class Databases:
    """A service that takes its time to make a database."""

    def __init__(self) -> None:
        self.made: dict[str, Json] = {}
        self.is_slow = False

    def __call__(self, method: str, path: str, body: Any) -> Any:
        name = path.removeprefix("/databases/")
        if method == "DELETE":
            return self.made.pop(name, None)
        self.made[name] = body
        return {"address": f"{name}.example.com:5432", "state": "starting" if self.is_slow else "ready"}
