from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardpoint.apiserver.target import Target, parse, verb_of


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/api/v1/pods", Target("", "", "v1", "pods")),
        ("/api/v1/namespaces/default/pods/web", Target("", "", "v1", "pods", "default", "web")),
        ("/api/v1/namespaces/default/pods/web/status", Target("", "", "v1", "pods", "default", "web", "status")),
        ("/api/v1/namespaces/default", Target("", "", "v1", "namespaces", "default", "default")),
        ("/api/v1/namespaces/x/finalize", Target("", "", "v1", "namespaces", "x", "x", "finalize")),
        ("/apis/apps/v1/deployments", Target("", "apps", "v1", "deployments")),
        ("/api/v1/nodes/n/proxy/a/b", Target("", "", "v1", "nodes", "", "n", "proxy", ("a", "b"))),
        ("/api/v1/watch/pods", Target("", "", "v1", "pods", watches=True)),
        ("/api/v1/namespaces/default/pods/a%2fb", Target("", "", "v1", "pods", "default", "a/b")),
        ("/api/v1", Target("")),
        ("/apis/apps/v1", Target("")),
        ("/healthz", Target("")),
        ("/", Target("")),
    ],
)
def test_a_path_leads_to_its_target(path: str, expected: Target) -> None:
    found = parse(path)
    assert found.path == path
    for field in ("group", "version", "resource", "namespace", "name", "subresource", "rest", "watches"):
        assert getattr(found, field) == getattr(expected, field), field


@pytest.mark.parametrize(
    ("method", "path", "watch", "verb"),
    [
        ("GET", "/api/v1/pods", False, "list"),
        ("GET", "/api/v1/pods", True, "watch"),
        ("GET", "/api/v1/watch/pods", False, "watch"),
        ("GET", "/api/v1/nodes/a", False, "get"),
        ("GET", "/api/v1/nodes/a", True, "get"),
        ("HEAD", "/api/v1/nodes/a", False, "get"),
        ("POST", "/api/v1/nodes", False, "create"),
        ("PUT", "/api/v1/nodes/a", False, "update"),
        ("PATCH", "/api/v1/nodes/a", False, "patch"),
        ("DELETE", "/api/v1/nodes/a", False, "delete"),
        ("DELETE", "/api/v1/nodes", False, "deletecollection"),
        ("GET", "/version", False, "get"),
        ("BREW", "/api/v1/nodes", False, "brew"),
    ],
)
def test_a_method_becomes_a_verb(method: str, path: str, watch: bool, verb: str) -> None:
    assert verb_of(parse(path), method, watch=watch) == verb


@given(st.text())
def test_any_path_is_understood(path: str) -> None:
    parse("/" + path)
