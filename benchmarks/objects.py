"""What is created: objects of ordinary size and variety. `{name}` stands for it."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]

LISTED_NAMESPACE = "listed"
"""Holds the pods that are read and listed."""

LABELLED = 1000
UNLABELLED = 9000
"""So many of them have the label that is selected by, and so many have another."""


def namespace(name: str) -> Json:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def service_account() -> Json:
    """Pods need one, and nobody else makes it where only an API server runs."""
    return {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}}


def config_map() -> Json:
    """1 KB as it is sent."""
    data = {f"setting-{number}": "value " * 15 for number in range(8)}
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "{name}", "labels": {"app": "bench"}},
        "data": data,
    }


def event_map() -> Json:
    """A small object, so that watching is about events and not about bytes."""
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "{name}"}, "data": {"about": "one event"}}


def pod(tier: str) -> Json:
    probe = {"httpGet": {"path": "/healthz", "port": 8080}, "periodSeconds": 5}
    container = {
        "name": "web",
        "image": "registry.example/web:1.2.3",
        "args": ["--listen=:8080", "--verbose"],
        "env": [{"name": "TIER", "value": tier}, {"name": "REGION", "value": "north"}],
        "ports": [{"name": "http", "containerPort": 8080}],
        "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}, "limits": {"memory": "128Mi"}},
        "readinessProbe": probe,
        "volumeMounts": [{"name": "cache", "mountPath": "/var/cache"}],
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "{name}", "labels": {"app": "web", "tier": tier}},
        "spec": {"containers": [container], "volumes": [{"name": "cache", "emptyDir": {}}]},
    }
