"""What is read from a request's path and query."""

from __future__ import annotations

import pytest

from hardpoint.seams.controller.host import Record, Where


@pytest.mark.parametrize(
    ("method", "url", "where", "verb"),
    [
        ("GET", "/api/v1/pods?watch=true", Where("", "v1", "", "pods"), "watch"),
        ("GET", "/api/v1/namespaces/a/pods/b", Where("", "v1", "a", "pods", "b"), "get"),
        ("GET", "/api/v1/namespaces/a", Where("", "v1", "", "namespaces", "a"), "get"),
        ("PUT", "/api/v1/namespaces/a/finalize", Where("", "v1", "", "namespaces", "a", "finalize"), "update"),
        ("GET", "/apis/apps/v1/deployments", Where("apps", "v1", "", "deployments"), "list"),
        (
            "PATCH",
            "/apis/apps/v1/namespaces/a/deployments/b/status",
            Where("apps", "v1", "a", "deployments", "b", "status"),
            "patch",
        ),
        ("DELETE", "/api/v1/namespaces/a/pods", Where("", "v1", "a", "pods"), "deletecollection"),
        ("GET", "/apis/apps/v1", Where(), "list"),
        ("GET", "/version", Where(), "list"),
    ],
)
def test_a_request_is_understood(method: str, url: str, where: Where, verb: str) -> None:
    path, _, query = url.partition("?")
    asked = Record().add(0.0, method, path, query)
    assert asked.where == where
    assert not asked.where.resource or asked.verb == verb


@pytest.mark.parametrize(
    ("method", "url", "is_write"),
    [
        ("POST", "/api/v1/namespaces/a/pods", True),
        ("POST", "/api/v1/namespaces/a/pods?dryRun=All", False),
        ("POST", "/api/v1/namespaces/a/events", False),
        ("PUT", "/apis/coordination.k8s.io/v1/namespaces/a/leases/b", False),
        ("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", False),
        ("GET", "/api/v1/pods", False),
    ],
)
def test_writes_are_told_from_housekeeping(method: str, url: str, is_write: bool) -> None:
    path, _, query = url.partition("?")
    assert Record().add(0.0, method, path, query).is_write is is_write
