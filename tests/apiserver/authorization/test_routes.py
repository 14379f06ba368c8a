"""Every route asks the authorizer, for what it does: generated from the table of kinds, so that none is forgotten."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import orjson
import pytest

from hardpoint.apiserver.connect import SUBRESOURCES as CONNECTIONS
from hardpoint.machinery import kinds
from hardpoint.machinery.kinds import Kind
from hardpoint.machinery.messages import User
from tests.apiserver.asking import Api

# Which store roles come from makes no difference here.
pytestmark = pytest.mark.parametrize("api", ["memory"], indirect=True)

METHODS = {
    "create": "POST",
    "delete": "DELETE",
    "deletecollection": "DELETE",
    "get": "GET",
    "list": "GET",
    "patch": "PATCH",
    "update": "PUT",
    "watch": "GET",
}
OF_COLLECTIONS = frozenset(("create", "deletecollection", "list", "watch"))
STRANGER = User("stranger")
OPEN = {"/healthz", "/livez", "/readyz", "/version"}
"""What the index names and anybody may read."""


class Route(NamedTuple):
    method: str
    url: str
    verb: str
    resource: str
    group: str
    namespace: str

    def __str__(self) -> str:
        return f"{self.method} {self.url}"


def routes_of(kind: Kind) -> Iterator[Route]:
    root = f"/apis/{kind.group}/{kind.version}" if kind.group else f"/api/{kind.version}"
    namespace = "default" if kind.namespaced else ""
    place = f"{root}/namespaces/default/{kind.plural}" if namespace else f"{root}/{kind.plural}"
    # A Namespace is in itself.
    itself = "x" if kind.kind == "Namespace" else namespace
    for verb in kind.verbs:
        url = place if verb in OF_COLLECTIONS else f"{place}/x"
        query = "?watch=true" if verb == "watch" else ""
        where = namespace if verb in OF_COLLECTIONS else itself
        yield Route(METHODS[verb], url + query, verb, kind.plural, kind.group, where)
        if verb == "watch":
            old = url.replace(root, f"{root}/watch")
            yield Route("GET", old, "watch", kind.plural, kind.group, namespace)
            yield Route("GET", f"{old}/x", "watch", kind.plural, kind.group, itself)
        if namespace and verb in ("list", "watch"):
            yield Route("GET", f"{root}/{kind.plural}{query}", verb, kind.plural, kind.group, "")
    for part in kind.subresources:
        verbs = METHODS if part.name in CONNECTIONS else part.verbs
        for verb in verbs:
            if verb in METHODS and verb not in ("deletecollection", "list", "watch"):
                resource = f"{kind.plural}/{part.name}"
                yield Route(METHODS[verb], f"{place}/x/{part.name}", verb, resource, kind.group, itself)


ROUTES = [route for kind in kinds.builtin() for route in routes_of(kind)]


async def test_nobody_comes_past_the_authorizer(api: Api) -> None:
    assert len(ROUTES) > 800
    stranger = api.as_user(STRANGER)
    for route in ROUTES:
        answer = await stranger.send(route.method, route.url)
        own = route.resource.startswith("selfsubject") and route.verb == "create"
        assert answer.status == (403 if not own else 400), route
        if own:
            continue
        where = f'in the namespace "{route.namespace}"' if route.namespace else "at the cluster scope"
        asked = f'cannot {route.verb} resource "{route.resource}" in API group "{route.group}" {where}'
        assert asked in orjson.loads(answer.body)["message"], route


async def test_nobody_comes_past_the_authorizer_on_other_paths(api: Api) -> None:
    paths = (await api.ok("GET", "/"))["paths"]
    assert len(paths) > 50
    for path in paths:
        for user, allowed in ((None, OPEN), (User("nobody", ("system:unauthenticated",)), OPEN)):
            status = (await api.as_user(user).send("GET", path)).status
            assert status == (200 if path in allowed else 403), path


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "FOO"])
async def test_other_methods_are_other_questions(api: Api, method: str) -> None:
    for path in (*OPEN, "/api", "/metrics", "/openapi/v2"):
        assert (await api.as_user(STRANGER).send(method, path)).status == 403
