"""Ways around a role that have been tried elsewhere: none leads further than the role does."""

from __future__ import annotations

import pytest

from hardpoint.machinery.messages import User
from tests.apiserver.asking import Api
from tests.apiserver.authorization.roles import allow, rule

# Which store roles come from makes no difference here.
pytestmark = pytest.mark.parametrize("api", ["memory"], indirect=True)

WALKER = User("walker")
HERE = "/api/v1/namespaces/default"
CONFIG = f"{HERE}/configmaps"
BY_NAME = f"{CONFIG}?fieldSelector=metadata.name"


@pytest.mark.parametrize(
    ("method", "url", "status"),
    [
        pytest.param("GET", f"{HERE}/pods", 200, id="what is allowed"),
        pytest.param("GET", f"{HERE}/pods/x", 404, id="of an object that is not there"),
        # Slashes.
        pytest.param("GET", f"{HERE}/pods/", 200, id="a slash at the end"),
        pytest.param("GET", f"{HERE}//pods", 403, id="two slashes"),
        pytest.param("GET", "/api/v1//namespaces/default/secrets", 403, id="two slashes before"),
        pytest.param("GET", "//api/v1/secrets", 403, id="two slashes first"),
        pytest.param("GET", "/api//v1/secrets", 403, id="two slashes in between"),
        pytest.param("GET", f"{HERE}/pods//x", 403, id="two slashes after"),
        pytest.param("GET", f"{HERE}/pods/x//log", 404, id="two slashes before a part"),
        pytest.param("GET", f"{HERE}/pods/x%2fexec", 404, id="an encoded slash"),
        pytest.param("GET", f"{HERE}%2fpods", 403, id="an encoded slash in a namespace"),
        pytest.param("GET", f"{HERE}/pods/..%2fsecrets", 404, id="an encoded slash, upwards"),
        # Dots.
        pytest.param("GET", f"{HERE}/../kube-system/pods", 403, id="dots to another namespace"),
        pytest.param("GET", f"{HERE}/pods/../secrets", 403, id="dots to another resource"),
        pytest.param("GET", f"{HERE}/pods/%2e%2e/secrets", 403, id="encoded dots"),
        pytest.param("GET", "/api/../metrics", 403, id="dots to a path"),
        pytest.param("GET", "/api/x/../../metrics", 403, id="more dots to a path"),
        pytest.param("GET", "/openapi/%2e%2e/metrics", 404, id="encoded dots to a path"),
        # Letters.
        pytest.param("GET", f"{HERE}/Pods", 403, id="a capital resource"),
        pytest.param("GET", "/API/v1/namespaces/default/secrets", 403, id="a capital root"),
        pytest.param("GET", "/api/v1/namespaces/DEFAULT/pods", 403, id="a capital namespace"),
        pytest.param("GET", "/api/V1/namespaces/default/secrets", 403, id="a capital version"),
        pytest.param("GET", f"{HERE}/%73ecrets", 403, id="an encoded letter"),
        pytest.param("GET", f"{HERE}/pod%73", 200, id="an encoded letter of what is allowed"),
        pytest.param("GET", "/%6detrics", 403, id="an encoded letter of a path"),
        # Groups.
        pytest.param("GET", "/apis//v1/namespaces/default/pods", 404, id="no group"),
        pytest.param("GET", "/apis/core/v1/namespaces/default/pods", 403, id="a group that is none"),
        pytest.param("GET", "/apis/apps/v1/namespaces/default/pods", 403, id="another group"),
        # Namespaces.
        pytest.param(
            "GET", "/api/v1/namespaces/kube-system/pods?namespace=default", 403, id="a namespace in the query"
        ),
        pytest.param("GET", "/api/v1/pods?fieldSelector=metadata.namespace%3Ddefault", 403, id="a namespace selected"),
        pytest.param("GET", "/api/v1/namespaces/default", 403, id="the namespace itself"),
        pytest.param("GET", "/api/v1/namespaces/default/status", 403, id="the namespace's status"),
        pytest.param("PUT", "/api/v1/namespaces/default/finalize", 403, id="the namespace's end"),
        # Watching.
        pytest.param("GET", f"{HERE}/pods?watch=1", 403, id="a watch"),
        pytest.param("GET", f"{HERE}/pods?watch=true&watch=false", 403, id="two minds"),
        pytest.param("GET", "/api/v1/watch/namespaces/default/pods", 403, id="an old watch"),
        pytest.param("GET", "/api/v1/watch/namespaces/default/pods/x", 403, id="an old watch of one"),
        pytest.param("GET", "/api/v1/watch/namespaces/default/secrets", 403, id="an old watch of secrets"),
        pytest.param("GET", "/api/v1/watch", 403, id="an old watch of nothing"),
        pytest.param("GET", "/api/v1/proxy/namespaces/default/pods/x", 403, id="an old proxy"),
        # Subresources.
        *(
            pytest.param(method, f"{HERE}/pods/x/{part}", 403, id=f"{method} {part}")
            for method, part in (
                ("GET", "log"),
                ("GET", "exec"),
                ("POST", "exec"),
                ("POST", "attach"),
                ("POST", "portforward"),
                ("GET", "proxy"),
                ("GET", "proxy/x"),
                ("GET", "status"),
                ("PUT", "status"),
                ("PATCH", "ephemeralcontainers"),
                ("PATCH", "resize"),
                ("POST", "binding"),
                ("POST", "eviction"),
            )
        ),
        pytest.param("POST", f"{HERE}/bindings", 403, id="a binding by another name"),
        pytest.param("POST", f"{HERE}/serviceaccounts/default/token", 403, id="a token"),
        # Verbs.
        pytest.param("HEAD", f"{HERE}/pods", 405, id="HEAD is a read"),
        pytest.param("OPTIONS", f"{HERE}/pods", 403, id="a method that is no verb"),
        pytest.param("GETX", f"{HERE}/pods", 403, id="a method that is none"),
        pytest.param("DELETE", f"{HERE}/pods", 403, id="all at once"),
        pytest.param("DELETE", f"{HERE}/pods/x", 403, id="one"),
        # Names.
        pytest.param("GET", CONFIG, 403, id="all names"),
        pytest.param("GET", f"{CONFIG}/a", 404, id="this name"),
        pytest.param("GET", f"{CONFIG}/b", 403, id="another name"),
        pytest.param("GET", f"{BY_NAME}%3Da", 200, id="this name by a selector"),
        pytest.param("GET", f"{BY_NAME}%3D%3Da", 200, id="or another spelling of it"),
        pytest.param("GET", f"{BY_NAME}%3Db", 403, id="another by a selector"),
        pytest.param("GET", f"{BY_NAME}!%3Da", 403, id="all but this"),
        pytest.param("GET", f"{BY_NAME}%3D", 403, id="no name by a selector"),
        pytest.param("GET", f"{BY_NAME}%3Da&fieldSelector=metadata.name%3Db", 200, id="the first of two selectors"),
        pytest.param("GET", f"{BY_NAME}%3Db&fieldSelector=metadata.name%3Da", 403, id="not the second"),
        pytest.param("GET", f"{BY_NAME}%3Da&limit=x", 403, id="a query that cannot be read"),
        pytest.param("DELETE", f"{BY_NAME}%3Da", 403, id="all at once, of this name"),
        pytest.param("POST", CONFIG, 403, id="a create has no name"),
        pytest.param("PATCH", f"{CONFIG}/a", 403, id="another verb on this name"),
    ],
)
async def test_a_role_leads_no_further(api: Api, method: str, url: str, status: int) -> None:
    given = [rule("get list", "pods"), rule("get list watch", "configmaps", resourceNames=["a"])]
    await allow(api, "walker", *given, subjects=[{"kind": "User", "name": "walker"}], namespace="default")
    assert (await api.as_user(WALKER).send(method, url)).status == status


@pytest.mark.parametrize(
    ("given", "method", "url", "status"),
    [
        pytest.param(rule("delete", "pods"), "DELETE", f"{HERE}/pods", 403, id="delete is not deletecollection"),
        pytest.param(rule("deletecollection", "pods"), "DELETE", f"{HERE}/pods/x", 403, id="nor the other way"),
        pytest.param(rule("list", "secrets"), "GET", f"{HERE}/secrets/x", 403, id="list is not get"),
        pytest.param(rule("get", "pods/*"), "GET", f"{HERE}/pods/x/log", 403, id="a star after a slash is no star"),
        pytest.param(rule("get", "pods*"), "GET", f"{HERE}/pods/x", 403, id="nor one after a word"),
        pytest.param(rule("get", "*/scale"), "GET", f"{HERE}/replicationcontrollers/x", 403, id="a part is not all"),
        pytest.param(rule("get", "*/scale"), "GET", f"{HERE}/replicationcontrollers/x/scale", 404, id="but the part"),
        pytest.param(rule("Get", "pods"), "GET", f"{HERE}/pods/x", 403, id="verbs have no capitals"),
        pytest.param(rule("get", "pods", resourceNames=["*"]), "GET", f"{HERE}/pods/x", 403, id="a star is no name"),
        pytest.param(rule("create", "pods", resourceNames=["x"]), "POST", f"{HERE}/pods", 403, id="not yet its name"),
        pytest.param(
            {"verbs": ["get"], "nonResourceURLs": ["/api/v1/*", "/apis/*", "*"]},
            "GET",
            f"{HERE}/pods/x",
            403,
            id="paths do not lead to resources",
        ),
    ],
)
async def test_rules_mean_what_they_say(
    api: Api, given: dict[str, list[str]], method: str, url: str, status: int
) -> None:
    await allow(api, "r", given, subjects=[{"kind": "User", "name": "walker"}])
    assert (await api.as_user(WALKER).send(method, url)).status == status


async def test_who_may_change_leases_may_not_make_them_with_a_put(api: Api) -> None:
    """PUT makes some kinds, and that is a create whatever the method."""
    subject = {"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": WALKER.name}
    await allow(api, "keeper", rule("get update", "leases", "coordination.k8s.io"), subjects=[subject])
    lease = {"metadata": {"name": "mine"}, "spec": {"holderIdentity": "walker"}}
    url = "/apis/coordination.k8s.io/v1/namespaces/default/leases/mine"
    status, refused = await api.as_user(WALKER).ask("PUT", url, lease)
    assert status == 403
    assert refused["message"] == (
        'leases.coordination.k8s.io "mine" is forbidden: User "walker" cannot create resource "leases" '
        'in API group "coordination.k8s.io" in the namespace "default"'
    )
    assert (await api.send("PUT", url, lease)).status == 201
