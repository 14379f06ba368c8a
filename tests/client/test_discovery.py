"""Discovery against what a real v1.37 answers, and against servers that only know the old way."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import orjson
import pytest

from hardpoint.client.discovery import AGGREGATED, Discovery
from hardpoint.client.inprocess import InProcessTransport
from hardpoint.client.transport import BadAnswer
from hardpoint.machinery.errors import ApiError
from hardpoint.machinery.messages import Request, Response, User

RECORDED = Path(os.environ.get("HARDPOINT_REFERENCE", Path(__file__).parents[3] / "shared/reference")) / "discovery"
recorded = pytest.mark.skipif(not RECORDED.exists(), reason="no recorded v1.37 beside the repository")


class Server:
    """Answers discovery from a table of documents."""

    def __init__(self, documents: dict[str, Any], *, aggregated: bool) -> None:
        self.documents = documents
        self.content_type = AGGREGATED if aggregated else "application/json"
        self.asked: list[str] = []

    async def handle(self, request: Request) -> Response:
        self.asked.append(request.path)
        document = self.documents.get(request.path)
        if document is None:
            return Response(404, b"404 page not found", "text/plain")
        return Response(200, orjson.dumps(document), self.content_type)

    def discovery(self) -> Discovery:
        return Discovery(InProcessTransport(self.handle, User("me")))


def group(name: str, version: str, *resources: dict[str, Any]) -> dict[str, Any]:
    return {"metadata": {"name": name}, "versions": [{"version": version, "resources": list(resources)}]}


def resource(plural: str, kind: str, **more: Any) -> dict[str, Any]:
    said = {"group": "", "version": "", "kind": kind}
    return {"resource": plural, "responseKind": said, "scope": "Namespaced", "singularResource": kind.lower(), **more}


def read(name: str) -> Any:
    return orjson.loads((RECORDED / name).read_bytes())


def modern() -> Server:
    return Server({"/api": read("aggregated-v2-api.json"), "/apis": read("aggregated-v2-apis.json")}, aggregated=True)


def old() -> Server:
    documents = {"/api": read("legacy-api.json"), "/apis": read("legacy-apis.json")}
    for file in (RECORDED / "groups").iterdir():
        document = orjson.loads(file.read_bytes())
        version = document["groupVersion"]
        documents[f"/apis/{version}" if "/" in version else f"/api/{version}"] = document
    return Server(documents, aggregated=False)


@recorded
async def test_the_old_way_and_the_new_way_find_the_same_kinds() -> None:
    new, legacy = await modern().discovery().kinds(), await old().discovery().kinds()
    assert len(new) > 60
    assert {kind.resource for kind in new} == {kind.resource for kind in legacy}
    by_name = {(kind.api_version, kind.plural): kind for kind in legacy}
    for kind in new:
        twin = by_name[kind.api_version, kind.plural]
        assert (twin.kind, twin.namespaced, set(twin.verbs)) == (kind.kind, kind.namespaced, set(kind.verbs))
        assert {sub.name: sub for sub in twin.subresources} == {sub.name: sub for sub in kind.subresources}


@recorded
@pytest.mark.parametrize("make", [modern, old])
@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("pods", "v1 Pod"),
        ("po", "v1 Pod"),
        ("pod", "v1 Pod"),
        ("Pod", "v1 Pod"),
        ("events", "v1 Event"),
        ("events.events.k8s.io", "events.k8s.io/v1 Event"),
        ("deploy", "apps/v1 Deployment"),
        ("deployments.v1.apps", "apps/v1 Deployment"),
        ("apps/v1 deployments", "apps/v1 Deployment"),
        ("hpa", "autoscaling/v2 HorizontalPodAutoscaler"),
        ("autoscaling/v1 HorizontalPodAutoscaler", "autoscaling/v1 HorizontalPodAutoscaler"),
        ("customresourcedefinitions", "apiextensions.k8s.io/v1 CustomResourceDefinition"),
    ],
)
async def test_names_are_found_as_kubectl_finds_them(make: Any, name: str, found: str) -> None:
    kind = await make().discovery().find(name)
    assert f"{kind.api_version} {kind.kind}" == found


async def test_a_server_is_asked_once_and_again_only_for_what_is_missing() -> None:
    server = Server({"/apis": {"items": [group("a.example", "v1", resource("as", "A"))]}}, aggregated=True)
    discovery = server.discovery()
    await asyncio.gather(*(discovery.find("as") for _ in range(10)))
    assert server.asked == ["/api", "/apis"]
    server.documents["/apis"]["items"].append(group("b.example", "v1", resource("bs", "B", shortNames=["as", "bb"])))
    assert (await discovery.find("bb")).kind == "B"
    assert (await discovery.find("as")).kind == "A", "full names go before short ones"
    assert len(server.asked) == 4
    with pytest.raises(ApiError, match='the server doesn\'t have a resource type "cs"') as missing:
        await discovery.find("cs")
    assert missing.value.reason == "NotFound"
    discovery.forget()
    assert len(await discovery.kinds()) == 2


async def test_what_was_known_stays_known_when_a_server_does_not_answer() -> None:
    server = Server({"/apis": {"items": [group("a.example", "v1", resource("as", "A"))]}}, aggregated=True)
    discovery = server.discovery()
    before = await discovery.refresh()
    document = server.documents.pop("/apis")
    with pytest.raises(ApiError):
        await discovery.refresh()
    assert await discovery.kinds() == before
    server.documents["/apis"] = {"items": [*document["items"], group("b.example", "v1", resource("bs", "B"))]}
    assert [kind.kind for kind in await discovery.refresh()] == ["A", "B"]


async def test_groups_that_could_not_be_described_are_named() -> None:
    stale = group("b.example", "v1")
    stale["versions"][0]["freshness"] = "Stale"
    server = Server({"/apis": {"items": [group("a.example", "v1", resource("as", "A")), stale]}}, aggregated=True)
    discovery = server.discovery()
    assert [kind.kind for kind in await discovery.kinds()] == ["A"]
    assert discovery.failed == ("b.example/v1",)


async def test_a_group_whose_server_is_away_does_not_hide_the_others() -> None:
    versions = [{"groupVersion": "a.example/v1", "version": "v1"}]
    pods = {"name": "pods", "singularName": "", "namespaced": True, "kind": "Pod", "verbs": ["get"]}
    documents = {
        "/api": {"versions": ["v1"]},
        "/apis": {"groups": [{"name": "a.example", "versions": versions, "preferredVersion": versions[0]}]},
        "/api/v1": {"groupVersion": "v1", "resources": [pods]},
    }
    discovery = Server(documents, aggregated=False).discovery()
    assert [kind.kind for kind in await discovery.kinds()] == ["Pod"]
    assert discovery.failed == ("a.example/v1",)


@pytest.mark.parametrize("nonsense", [{"items": [3]}, {"items": [{"versions": [{"resources": [{}]}]}]}, {"items": 7}])
async def test_nonsense_is_an_error_with_a_name(nonsense: Any) -> None:
    with pytest.raises(BadAnswer, match="unknown form"):
        await Server({"/apis": nonsense}, aggregated=True).discovery().find("pods")
