"""Requests that nobody sane would send: every kind, every verb, odd bodies, paths, queries and headers.

Bodies grow from small good objects and from random ones made by the table of shapes; whatever the server accepted
becomes a seed itself, so that damage gets ever deeper into objects that pass.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any
from urllib.parse import quote

import orjson
import yaml

from hardpoint.machinery import kinds, shapes
from hardpoint.machinery.kinds import Kind
from tests.chaos.mutations import HOSTILE, damaged, damaged_bytes
from tests.chaos.seed_objects import SEED_NAMES, SEEDS
from tests.machinery import shape_samples

Json = dict[str, Any]

NAMESPACES = (
    "default",
    "default",
    "default",
    "kube-system",
    "none",
    "",
    ".",
    "..",
    "%2e%2e",
    "a%2fb",
    "%00",
    "é",
    "A_B",
)
NAMES = ("a", "b", "c", "d", "web-0", "..", ".", "%2e", "a%2fb", "", "x" * 300, "A", "%ff", "proxy", "status")
METHODS = (
    *("POST", "PUT", "PATCH") * 20,
    *("GET",) * 8,
    *("DELETE",) * 3,
    "HEAD",
    "OPTIONS",
    "BREW",
    "CONNECT",
    "TRACE",
)
PATCHES = ("application/json-patch+json", "application/merge-patch+json", "application/strategic-merge-patch+json")
CONTENT_TYPES = (
    *("application/json",) * 30,
    *("application/yaml",) * 6,
    *(
        "application/vnd.kubernetes.protobuf",
        "application/apply-patch+yaml",
        "application/cbor",
        "text/plain",
        "",
        "a/b/c",
    ),
    *("application/json;charset=é", "application/json; stream=watch"),
)
_OF_COLLECTION = {"POST": 0.85, "GET": 0.4, "DELETE": 0.05}
"""How often a method is tried on a collection rather than on an object."""
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
ACCEPTS = (
    *("application/json", "*/*", TABLE, TABLE, "application/yaml", "application/vnd.kubernetes.protobuf") * 5,
    *("application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,application/json",) * 3,
    *(
        "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
        "text/html",
        "a",
        ";;;,,,",
        "application/json;q=x",
    ),
    *("application/*;q=0.1", "application/json;as=Table;v=v9", ""),
)
PARAMETERS: dict[str, tuple[str, ...]] = {
    "labelSelector": (
        "a=b",
        "a in (b,c)",
        "!a",
        "a in (",
        "=,=",
        "a==b,c!=d",
        "é",
        "a notin ()",
        ",",
        "x" * 300 + "=y",
    ),
    "fieldSelector": (
        "metadata.name=a",
        "metadata.namespace!=default",
        "x=y",
        "status.phase=Running",
        "a\\",
        "=",
        "spec.é=1",
    ),
    "limit": ("0", "1", "2", "-1", "abc", "9" * 30, "1.5", ""),
    "continue": ("", "x", "e30", "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiIuLi94In0", "%ff"),
    "resourceVersion": ("", "0", "1", "-1", "abc", "00", "1e3", "é"),
    "resourceVersionMatch": ("Exact", "NotOlderThan", "x", ""),
    "watch": ("1", "true", "0", "x", ""),
    "allowWatchBookmarks": ("true", "x"),
    "sendInitialEvents": ("true", "false", "x"),
    "timeoutSeconds": ("1", "0", "-1", "x", "9" * 20),
    "timeout": ("1s", "x", "-1s", "", "1h", "9" * 30 + "s"),
    "dryRun": ("All", "x", "All,All"),
    "fieldManager": ("me", "", "x" * 200, "é\n"),
    "fieldValidation": ("Strict", "Warn", "Ignore", "x"),
    "force": ("true", "x"),
    "pretty": ("true", "1", "x", ""),
    "propagationPolicy": ("Foreground", "Orphan", "Background", "x"),
    "gracePeriodSeconds": ("0", "-1", "30", "x", "9" * 20),
    "orphanDependents": ("true", "x"),
    "ignoreStoreReadErrorWithClusterBreakingPotential": ("true", "x"),
    "%zz": ("%", "%ff", "+"),
}
HEADERS: dict[str, tuple[str, ...]] = {
    "accept-encoding": ("gzip", "gzip;q=0", "x", "*"),
    "audit-id": ("x", "é", "a" * 100, ""),
    "if-none-match": ('"x"', "*", "W/"),
    "user-agent": ("kubectl/v1.37", "", "é" * 200),
    "impersonate-user": ("bob",),
    "impersonate-group": ("system:masters",),
    "x-remote-user": ("admin",),
    "content-encoding": ("gzip", "x"),
    "connection": ("upgrade",),
    "upgrade": ("SPDY/3.1", "websocket"),
    "origin": ("null", "https://evil.example"),
}
OTHER_PATHS = (
    *(
        "/",
        "/api",
        "/apis",
        "/api/v1",
        "/apis/apps",
        "/apis/apps/v1",
        "/openapi/v2",
        "/openapi/v3",
        "/openapi/v3/api/v1",
    ),
    *(
        "/version",
        "/metrics",
        "/livez",
        "/readyz?verbose",
        "/healthz/ping",
        "/livez/none",
        "/apis/none/v1/x",
        "/..",
        "//",
    ),
    *(
        "/api//v1",
        "/api/v1/",
        "/apis/apps/v1/",
        "/api/v1/namespaces/default/",
        "/%2e%2e/etc/passwd",
        "/é",
        "/api/v1/watch",
    ),
    *("/api/v1/watch/pods", "/api/v1/watch/namespaces/default/pods/a", "/api/v1/proxy", "/api/v1/nodes/a/proxy/x/y"),
    *("/api/v1/namespaces/default/pods/a/exec?command=x", "/api/v1/namespaces/default/services/https:a:b/proxy/"),
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/a/b/c/d/e",
)


@dataclass(frozen=True, slots=True)
class Sent:
    """One request, before it is put into any transport."""

    method: str
    path: str
    query: str
    headers: dict[str, str]
    body: bytes

    def __str__(self) -> str:
        return f"{self.method} {self.path}?{self.query} {self.headers} {self.body[:2000]!r}"


@dataclass
class Author:
    """Writes requests, and learns from what was accepted."""

    chance: Random
    corpus: dict[Kind, list[Json]] = field(default_factory=dict)
    _all: tuple[Kind, ...] = field(default_factory=kinds.builtin)

    def __post_init__(self) -> None:
        for seed in SEEDS:
            kind = kinds.by_kind(seed["apiVersion"], seed["kind"])
            assert kind is not None, seed
            self.corpus.setdefault(kind, []).append(seed)

    def write(self) -> tuple[Kind | None, Sent]:
        """The next request, and the kind it is about."""
        if self.chance.random() < 0.05:
            path, _, query = self.chance.choice(OTHER_PATHS).partition("?")
            return None, Sent(self.chance.choice(METHODS), path, query, self._headers(), b"")
        # Kinds with good seeds get most of the attention: most damage to random objects is noticed early.
        known = self.chance.random() < 0.7
        kind = self.chance.choice(tuple(self.corpus)) if known else self.chance.choice(self._all)
        method = self.chance.choice(METHODS)
        path = self._path(kind, method)
        headers = self._headers()
        body = self._body(kind, method, headers)
        return kind, Sent(method, path, self._query(), headers, body)

    def learn(self, kind: Kind, answer: bytes) -> None:
        """Remember an object that the server took."""
        found = orjson.loads(answer)
        if found.get("kind") == kind.kind and "metadata" in found and len(answer) < 20_000:
            objects = self.corpus.setdefault(kind, [])
            objects.append(found)
            if len(objects) > 12:
                objects.pop(self.chance.randrange(len(objects)))

    def _path(self, kind: Kind, method: str) -> str:
        chance = self.chance
        root = f"/apis/{kind.group}/{kind.version}" if kind.group else f"/api/{kind.version}"
        if kind.namespaced and chance.random() < 0.95:
            root += f"/namespaces/{chance.choice(NAMESPACES[:3] if chance.random() < 0.9 else NAMESPACES)}"
        path = f"{root}/{kind.plural}"
        if chance.random() < _OF_COLLECTION.get(method, 0.0):
            return path
        path += f"/{self._name(kind) if chance.random() < 0.9 else chance.choice(NAMES)}"
        if chance.random() < 0.15:
            parts = [part.name for part in kind.subresources] + ["status", "scale", "none", "..", "proxy"]
            path += f"/{chance.choice(parts)}"
        return path

    def _query(self) -> str:
        if self.chance.random() < 0.7:
            return ""
        names = self.chance.choices(tuple(PARAMETERS), k=self.chance.randint(1, 3))
        pairs = ((name, self.chance.choice(PARAMETERS[name])) for name in names)
        return "&".join(f"{name}={quote(value, safe='%')}" for name, value in pairs)

    def _headers(self) -> dict[str, str]:
        headers = {"accept": self.chance.choice(ACCEPTS)} if self.chance.random() < 0.3 else {}
        if self.chance.random() < 0.1:
            name = self.chance.choice(tuple(HEADERS))
            headers[name] = self.chance.choice(HEADERS[name])
        return headers

    def _body(self, kind: Kind, method: str, headers: dict[str, str]) -> bytes:
        chance = self.chance
        if method in ("GET", "HEAD") and chance.random() < 0.95:
            return b""
        if method == "DELETE":
            tree: Any = {"propagationPolicy": "Foreground", "preconditions": {"uid": "x"}, "gracePeriodSeconds": 0}
            tree = damaged(tree, chance, 2) if chance.random() < 0.5 else {}
        elif method == "PATCH" and chance.random() < 0.4:
            headers["content-type"] = PATCHES[0]
            return orjson.dumps(self._json_patch(kind))
        else:
            tree = self._object(kind)
        headers["content-type"] = chance.choice(
            PATCHES if method == "PATCH" and chance.random() < 0.9 else CONTENT_TYPES
        )
        text = orjson.dumps(tree)
        if "yaml" in headers["content-type"]:
            text = yaml.dump(tree, Dumper=yaml.CSafeDumper).encode()
        return damaged_bytes(text, chance) if chance.random() < 0.1 else text

    def _object(self, kind: Kind) -> Any:
        chance = self.chance
        known = self.corpus.get(kind)
        if known and chance.random() < 0.9:
            tree = chance.choice(known)
        else:
            shape = shapes.find(kind.api_version, kind.kind)
            tree = shape_samples.sample(shape, chance) if shape else {}
            tree |= {"apiVersion": kind.api_version, "kind": kind.kind}
        tree = {**tree, "metadata": {**self._kept_metadata(tree), "name": self._name(kind)}}
        return damaged(tree, chance, chance.choice((0, 0, 1, 1, 1, 1, 1, 2, 3, 8)))

    def _name(self, kind: Kind) -> str:
        """One of a few, so that requests meet; some kinds have names that say what they are."""
        good = SEED_NAMES.get(kind.kind)
        return good or self.chance.choice(NAMES[:4])

    def _kept_metadata(self, tree: Json) -> Json:
        metadata = tree.get("metadata") or {}
        if not isinstance(metadata, dict):
            return {}
        dropped = {"resourceVersion", "uid"} if self.chance.random() < 0.9 else set()
        dropped |= {"namespace"} if self.chance.random() < 0.95 else set()
        return {name: value for name, value in metadata.items() if name not in dropped}

    def _json_patch(self, kind: Kind) -> Any:
        chance = self.chance
        operations = []
        for _ in range(chance.randint(1, 4)):
            value = chance.choice((self._object(kind), chance.choice(HOSTILE)))
            path = chance.choice(
                (
                    "/metadata/labels",
                    "/spec",
                    "/metadata/name",
                    "",
                    "/",
                    "/spec/-",
                    "/a~1b",
                    "/~2",
                    "/metadata/finalizers/0",
                )
            )
            name = chance.choice(("add", "remove", "replace", "move", "copy", "test", "x"))
            operations.append(
                {"op": name, "path": path, "from": chance.choice(("/metadata", "/spec", "", "/x")), "value": value}
            )
        return damaged(operations, chance, chance.choice((0, 0, 1, 2)))
