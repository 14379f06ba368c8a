"""Benches for tests: a fresh embedded cluster for each trial, and the small controller of `greeter.py`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from hardpoint.cluster import fresh_cluster
from hardpoint.seams.controller.check import Bench

Json = dict[str, Any]

GREETER = Path(__file__).with_name("greeter.py")
TEXT: Json = {"type": "string"}
CONDITIONS: Json = {
    "type": "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["type"],
    "items": {"type": "object", "required": ["type", "status"], "properties": {"type": TEXT, "status": TEXT}},
}
DEFINITION: Json = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "greetings.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"plural": "greetings", "singular": "greeting", "kind": "Greeting", "listKind": "GreetingList"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "subresources": {"status": {}},
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "spec": {
                                "type": "object",
                                "properties": {
                                    "text": TEXT,
                                    "replicas": {"type": "integer", "minimum": 0, "maximum": 4},
                                },
                            },
                            "status": {
                                "type": "object",
                                "properties": {"made": {"type": "integer"}, "at": TEXT, "conditions": CONDITIONS},
                            },
                        },
                    }
                },
            }
        ],
    },
}
ARCHIVE: Json = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "first", "namespace": "archive"}}
"""Brings the namespace that the controller needs."""


def greeting(name: str, **spec: Any) -> Json:
    metadata = {"name": name, "namespace": "default"}
    return {"apiVersion": "example.com/v1", "kind": "Greeting", "metadata": metadata, "spec": spec}


def bench(folder: Path, *arguments: str, patience_seconds: float = 10.0) -> Bench:
    """The small controller on a bench, with two objects."""
    return Bench(
        command=[sys.executable, str(GREETER), *arguments],
        fresh_cluster=fresh_cluster,
        folder=folder,
        definitions=[DEFINITION],
        objects=[ARCHIVE, greeting("hello", text="hi", replicas=2), greeting("bye", text="ciao", replicas=1)],
        settle_seconds=0.4,
        patience_seconds=patience_seconds,
    )
