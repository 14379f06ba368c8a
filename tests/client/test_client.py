"""The verbs: what each one asks for, and what becomes of the answers."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterator
from typing import Any
from urllib.parse import parse_qsl

import orjson
import pytest

from hardpoint.client.client import Client
from hardpoint.client.discovery import AGGREGATED
from hardpoint.client.options import ALL_NAMESPACES
from hardpoint.client.resources import Resource
from hardpoint.client.transport import BadAnswer
from hardpoint.machinery import errors
from hardpoint.machinery.errors import ApiError
from hardpoint.machinery.messages import Request, Response, User

Json = dict[str, Any]
PODS = Resource("v1", "pods", "Pod")
NODES = Resource("v1", "nodes", "Node", namespaced=False)
POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}
DEPLOYMENT = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d", "namespace": "web"}}


def discovered(plural: str, kind: str, scope: str = "Namespaced") -> Json:
    return {"resource": plural, "responseKind": {"kind": kind}, "scope": scope, "singularResource": kind.lower()}


CORE = [{"version": "v1", "resources": [discovered("pods", "Pod"), discovered("nodes", "Node", "Cluster")]}]
APPS = [{"version": "v1", "resources": [discovered("deployments", "Deployment")]}]
DISCOVERY = {
    "/api": {"items": [{"metadata": {}, "versions": CORE}]},
    "/apis": {"items": [{"metadata": {"name": "apps"}, "versions": APPS}]},
}


class Server:
    """Remembers what it is asked, and answers from a list, the last answer for ever."""

    def __init__(self, *answers: Response | Json) -> None:
        self._answers = list(answers) or [{}]
        self.asked: list[Request] = []

    async def handle(self, request: Request) -> Response:
        if request.path in DISCOVERY:
            return Response(200, orjson.dumps(DISCOVERY[request.path]), AGGREGATED)
        self.asked.append(request)
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        return answer if isinstance(answer, Response) else Response(200, orjson.dumps(answer))

    def client(self, namespace: str = "default") -> Client:
        return Client.in_process(self.handle, User("me"), namespace=namespace)

    def lines(self) -> Iterator[str]:
        for request in self.asked:
            query = f"?{request.query}" if request.query else ""
            yield f"{request.method} {request.path}{query}"


def refused(error: ApiError) -> Response:
    return Response(error.code, orjson.dumps(error.status()))


Act = Callable[[Client], Awaitable[Any]]


@pytest.mark.parametrize(
    ("act", "line", "body"),
    [
        (lambda c: c.get("pods", "a"), "GET /api/v1/namespaces/default/pods/a", None),
        (lambda c: c.get(PODS, "a", namespace="x"), "GET /api/v1/namespaces/x/pods/a", None),
        (lambda c: c.get("nodes", "n", namespace="x"), "GET /api/v1/nodes/n", None),
        (
            lambda c: c.get(PODS, "a", resource_version="0"),
            "GET /api/v1/namespaces/default/pods/a?resourceVersion=0",
            None,
        ),
        (
            lambda c: c.get("deployments", "d", subresource="scale"),
            "GET /apis/apps/v1/namespaces/default/deployments/d/scale",
            None,
        ),
        (lambda c: c.create(POD), "POST /api/v1/namespaces/default/pods", POD),
        (lambda c: c.create(POD, namespace="x"), "POST /api/v1/namespaces/x/pods", POD),
        (
            lambda c: c.create(DEPLOYMENT, dry_run=True, field_manager="m", field_validation="Strict"),
            "POST /apis/apps/v1/namespaces/web/deployments?dryRun=All&fieldManager=m&fieldValidation=Strict",
            DEPLOYMENT,
        ),
        (
            lambda c: c.create({"kind": "Eviction"}, resource="pods", name="a", subresource="eviction"),
            "POST /api/v1/namespaces/default/pods/a/eviction",
            {"kind": "Eviction"},
        ),
        (lambda c: c.update(DEPLOYMENT), "PUT /apis/apps/v1/namespaces/web/deployments/d", DEPLOYMENT),
        (lambda c: c.replace_status(DEPLOYMENT), "PUT /apis/apps/v1/namespaces/web/deployments/d/status", DEPLOYMENT),
        (lambda c: c.patch(PODS, "a", {"x": 1}), "PATCH /api/v1/namespaces/default/pods/a", {"x": 1}),
        (
            lambda c: c.apply(DEPLOYMENT, field_manager="m", force=True),
            "PATCH /apis/apps/v1/namespaces/web/deployments/d?fieldManager=m&force=true",
            DEPLOYMENT,
        ),
        (
            lambda c: c.delete(PODS, "a"),
            "DELETE /api/v1/namespaces/default/pods/a",
            {"kind": "DeleteOptions", "apiVersion": "v1"},
        ),
        (
            lambda c: c.delete(
                PODS, "a", propagation="Orphan", grace_seconds=0, uid="u", resource_version="7", dry_run=True
            ),
            "DELETE /api/v1/namespaces/default/pods/a",
            {
                "kind": "DeleteOptions",
                "apiVersion": "v1",
                "propagationPolicy": "Orphan",
                "gracePeriodSeconds": 0,
                "dryRun": ["All"],
                "preconditions": {"uid": "u", "resourceVersion": "7"},
            },
        ),
        (
            lambda c: c.delete_collection("pods", namespace="x", label_selector="a=b"),
            "DELETE /api/v1/namespaces/x/pods?labelSelector=a%3Db",
            {"kind": "DeleteOptions", "apiVersion": "v1"},
        ),
        (lambda c: c.list("pods"), "GET /api/v1/namespaces/default/pods?limit=500", None),
        (lambda c: c.list("pods", namespace=ALL_NAMESPACES, page_size=0), "GET /api/v1/pods", None),
        (
            lambda c: c.list(NODES, field_selector="metadata.name=n", label_selector="x in (a, b)"),
            "GET /api/v1/nodes?labelSelector=x+in+%28a%2C+b%29&fieldSelector=metadata.name%3Dn&limit=500",
            None,
        ),
    ],
)
async def test_what_each_verb_asks_for(act: Act, line: str, body: Any) -> None:
    server = Server({})
    await act(server.client())
    assert list(server.lines()) == [line]
    (request,) = server.asked
    assert (orjson.loads(request.body) if request.body else None) == body
    assert request.peer.certificate == User("me")


@pytest.mark.parametrize(
    ("strategy", "content_type"),
    [
        ("merge", "application/merge-patch+json"),
        ("json", "application/json-patch+json"),
        ("strategic", "application/strategic-merge-patch+json"),
        ("apply", "application/apply-patch+yaml"),
    ],
)
async def test_patch_types(strategy: Any, content_type: str) -> None:
    server = Server({})
    await server.client().patch(PODS, "a", [{"op": "test"}], strategy=strategy)
    assert server.asked[0].headers["content-type"] == content_type
    assert orjson.loads(server.asked[0].body) == [{"op": "test"}]


@pytest.mark.parametrize(
    ("act", "complaint"),
    [
        (lambda c: c.get(PODS, ""), "pods: a name is required"),
        (lambda c: c.delete(PODS, ""), "pods: a name is required"),
        (lambda c: c.get(PODS, "../nodes"), "invalid resource name"),
        (lambda c: c.get(PODS, "a", namespace=".."), "invalid resource name"),
        (lambda c: c.create({"kind": "Pod"}), "an object needs apiVersion and kind"),
        (lambda c: c.update({"apiVersion": "v1", "kind": "Pod"}), "metadata.name is required"),
        (lambda c: c.create(POD, subresource="eviction"), "say which with name="),
    ],
)
async def test_what_makes_no_sense_is_not_sent(act: Act, complaint: str) -> None:
    server = Server({})
    with pytest.raises(ApiError, match=complaint) as raised:
        await act(server.client())
    assert raised.value.code == 400
    assert server.asked == []


def page(*names: str, token: str = "", version: str = "9") -> Json:
    metadata = {"resourceVersion": version, "continue": token, "remainingItemCount": 3}
    return {
        "kind": "PodList",
        "apiVersion": "v1",
        "metadata": metadata,
        "items": [{"metadata": {"name": n}} for n in names],
    }


async def test_pages_become_one_list_of_whole_objects() -> None:
    server = Server(page("a", "b", token="t1"), page("c", token="t2"), page("d"))
    listed = await server.client().list("pods", page_size=2, label_selector="x")
    assert listed["metadata"] == {"resourceVersion": "9"}
    assert [item["metadata"]["name"] for item in listed["items"]] == ["a", "b", "c", "d"]
    assert listed["items"][3] == {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "d"}}
    asked = [dict(parse_qsl(request.query)) for request in server.asked]
    assert asked == [
        {"labelSelector": "x", "limit": "2"},
        {"labelSelector": "x", "limit": "2", "continue": "t1"},
        {"labelSelector": "x", "limit": "2", "continue": "t2"},
    ]


async def test_a_list_whose_pages_expire_is_asked_for_as_a_whole() -> None:
    gone = refused(errors.expired("The provided continue parameter is too old", continue_token="later"))
    server = Server(page("a", token="t1"), gone, page("b", "c", version="12"))
    listed = await server.client().list("pods")
    assert [item["metadata"]["name"] for item in listed["items"]] == ["b", "c"]
    assert listed["metadata"]["resourceVersion"] == "12"
    assert server.asked[2].query == ""
    server = Server(page("a", token="t1"), gone)
    with pytest.raises(ApiError, match="too old"):
        [page async for page in server.client().pages("pods")]


async def test_an_item_keeps_the_kind_it_came_with() -> None:
    item = {"kind": "Other", "apiVersion": "x/v1", "metadata": {"name": "a"}}
    listed = await Server({"metadata": {}, "items": [item]}).client().list(PODS)
    assert listed["items"] == [item]
    assert (await Server({"metadata": None, "items": None}).client().list(PODS))["items"] == []


@pytest.mark.parametrize("nonsense", [{"items": 3}, {"items": [3]}, {"items": [{}]}, {"items": [{"metadata": {}}]}])
async def test_a_list_of_nonsense_is_an_error_with_a_name(nonsense: Json) -> None:
    with pytest.raises(BadAnswer, match="/api/v1/namespaces/default/pods: the answer is no List"):
        await Server(nonsense).client().list(PODS)


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"3"])
async def test_an_answer_that_is_no_object_is_an_error_with_a_name(body: bytes) -> None:
    with pytest.raises(BadAnswer, match="/pods/a: the answer is not"):
        await Server(Response(200, body)).client().get(PODS, "a")


async def test_a_status_becomes_the_error_it_stands_for() -> None:
    with pytest.raises(ApiError) as raised:
        await Server(refused(errors.not_found("pods", "a"))).client().get(PODS, "a")
    assert raised.value.status() == errors.not_found("pods", "a").status()


@pytest.mark.parametrize(
    ("answer", "code", "reason", "message"),
    [
        (Response(502, b"<html>bad gateway</html>", "text/html"), 502, "", "<html>bad gateway</html>"),
        (Response(404, b"404 page not found\n", "text/plain"), 404, "NotFound", "404 page not found"),
        (Response(403, b""), 403, "Forbidden", "the server answered 403"),
        (Response(409, b'{"kind":"Status","reason":"Conflict","message":"m"}'), 409, "Conflict", "m"),
        (
            Response(500, b'{"kind":"Status","code":"x","message":["m"],"details":[],"metadata":3}'),
            500,
            "",
            "",
        ),
        (Response(429, b'{"kind":"Status","details":{"retryAfterSeconds":"soon"}}'), 429, "", ""),
        (Response(500, b"x" * 10_000), 500, "InternalError", "x" * 512),
    ],
)
async def test_refusals_without_a_proper_status(answer: Response, code: int, reason: str, message: str) -> None:
    with pytest.raises(ApiError) as raised:
        await Server(answer).client().get(PODS, "a")
    assert (raised.value.code, raised.value.reason, raised.value.message) == (code, reason, message)


async def test_warnings_reach_the_log_once(caplog: pytest.LogCaptureFixture) -> None:
    header = ("Warning", '299 - "v1 Pod \\"x\\" is odd", 299 - "second"')
    client = Server(Response(200, b"{}", headers=[header])).client()
    with caplog.at_level(logging.WARNING):
        await client.get(PODS, "a")
        await client.get(PODS, "a")
    told = [record.__dict__["warning"] for record in caplog.records]
    assert told == ['v1 Pod "x" is odd', "second"]


async def test_raw_answers_come_as_they_are() -> None:
    answer = await Server(Response(404, b"nothing", "text/plain")).client().raw("GET", "/healthz", query={"a": "b c"})
    assert (answer.status, answer.body, answer.headers["content-type"]) == (404, b"nothing", "text/plain")


async def test_watch_starts_from_now_unless_told() -> None:
    event = {"type": "ADDED", "object": {"metadata": {"name": "a", "resourceVersion": "10"}}}

    async def said() -> Any:
        yield orjson.dumps(event) + b"\n"

    server = Server(page("x", token="more", version="9"), Response(200, stream=said()))
    async with server.client().watch("pods", namespace="x") as events:
        assert (await anext(events)).object["metadata"]["name"] == "a"
    first, second = [dict(parse_qsl(request.query)) for request in server.asked]
    assert first == {"limit": "1"}
    assert (second["watch"], second["resourceVersion"], second["allowWatchBookmarks"]) == ("true", "9", "true")


async def test_metadata_only_is_a_matter_of_the_accept_header(caplog: pytest.LogCaptureFixture) -> None:
    async def said() -> Any:
        yield b'{"type":"ADDED","object":{"metadata":{"name":"b"}}}\n'

    warning = [("Warning", '299 - "v1 Pod is old"')]
    listing, watching = Response(200, orjson.dumps(page("a")), headers=warning), Response(200, stream=said())
    server = Server(listing, watching)
    listed = await server.client().list("pods", metadata_only=True)
    async with server.client().list_then_watch("pods", metadata_only=True) as events:
        names = [item["metadata"]["name"] for item in (*listed["items"], (await anext(events)).object)]
    assert names == ["a", "b"]
    wanted = "application/json;as=PartialObjectMetadata{};g=meta.k8s.io;v=v1,application/json"
    assert [request.headers["accept"] for request in server.asked] == [wanted.format("List"), wanted.format("")]
    assert "v1 Pod is old" not in caplog.text


async def test_a_refused_watch_raises_before_the_first_event() -> None:
    server = Server(refused(errors.forbidden("pods", "", "no")))
    async with server.client().list_then_watch("pods") as events:
        with pytest.raises(ApiError, match="pods is forbidden: no"):
            await anext(events)
