"""What resources are called and where they are."""

from __future__ import annotations

import pytest

from hardpoint.client.resources import Resource, Wanted, readings, segment
from hardpoint.machinery.errors import ApiError

PODS = Resource("v1", "pods", "Pod")
ROLES = Resource("rbac.authorization.k8s.io/v1", "clusterroles", "ClusterRole", namespaced=False)


@pytest.mark.parametrize(
    ("resource", "place", "path"),
    [
        (PODS, (), "/api/v1/pods"),
        (PODS, ("web",), "/api/v1/namespaces/web/pods"),
        (PODS, ("web", "a"), "/api/v1/namespaces/web/pods/a"),
        (PODS, ("web", "a", "status"), "/api/v1/namespaces/web/pods/a/status"),
        (ROLES, ("ignored", "system:node"), "/apis/rbac.authorization.k8s.io/v1/clusterroles/system:node"),
        (ROLES, ("", "a b?c#d"), "/apis/rbac.authorization.k8s.io/v1/clusterroles/a%20b%3Fc%23d"),
    ],
)
def test_paths(resource: Resource, place: tuple[str, ...], path: str) -> None:
    assert resource.path(*place) == path


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "../secrets/x", "a%2fb"])
def test_a_name_never_leads_elsewhere(name: str) -> None:
    with pytest.raises(ApiError, match="invalid resource name") as refused:
        segment(name)
    assert refused.value.code == 400


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("pods", [Wanted("pods")]),
        ("v1 Pod", [Wanted("Pod", "", "v1")]),
        ("apps/v1 Deployment", [Wanted("Deployment", "apps", "v1")]),
        ("deployments.apps", [Wanted("deployments", "apps")]),
        ("deployments.v1.apps", [Wanted("deployments", "apps", "v1"), Wanted("deployments", "v1.apps")]),
        ("crontabs.stable.example.com", [Wanted("crontabs", "stable.example.com")]),
        ("a.v1beta1.b.c", [Wanted("a", "b.c", "v1beta1"), Wanted("a", "v1beta1.b.c")]),
    ],
)
def test_names_as_people_write_them(text: str, meant: list[Wanted]) -> None:
    assert readings(text) == meant
