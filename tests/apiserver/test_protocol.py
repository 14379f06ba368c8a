"""What kube-apiserver v1.37 answers to requests that are a little off: routes, methods, media types, names.

Every row was compared with the real server.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import orjson
import pytest

from hardpoint.apiserver.server import ApiServer
from hardpoint.machinery import yamltext
from hardpoint.store.memory import MemoryStore
from tests.apiserver.asking import Api

IN_DEFAULT = "/api/v1/namespaces/default"
NO_PATH = "the server could not find the requested resource"
NO_METHOD = "the server does not allow this method on the requested resource"
MEDIA = "application/json, application/yaml, application/vnd.kubernetes.protobuf"
STREAMS = "application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch"


@pytest.fixture
async def api() -> AsyncIterator[Api]:
    """A running server; what is asked here does not depend on its store."""
    store = MemoryStore()
    async with ApiServer(store).running() as server:
        yield Api(server)
    await store.close()


@pytest.mark.parametrize(
    "path",
    [
        pytest.param("/api/v2", id="a version the core group does not have"),
        pytest.param("/apis/apps/v2", id="a version a group does not have"),
        pytest.param("/apis/apps/v1/unknowns", id="a kind a version does not have"),
        pytest.param("/api/v1/pods/x", id="an object outside of its namespace"),
        pytest.param(f"{IN_DEFAULT}/nodes", id="in a namespace what has none"),
        pytest.param("/api/v1/bindings", id="across namespaces what cannot be listed"),
        pytest.param(f"{IN_DEFAULT}/bindings/x", id="an object of what can only be created"),
        pytest.param("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews/x", id="a review by name"),
        pytest.param(f"{IN_DEFAULT}/pods/x/unknown", id="a part a kind does not have"),
        pytest.param(f"{IN_DEFAULT}/pods/x/status/y", id="more than a part"),
        pytest.param(f"{IN_DEFAULT}/pods/x%2Fy", id="a slash in disguise"),
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
async def test_there_is_no_such_path(api: Api, method: str, path: str) -> None:
    status, refused = await api.ask(method, path)
    assert (status, refused["reason"], refused["message"]) == (404, "NotFound", NO_PATH)
    assert refused["details"] == {}


@pytest.mark.parametrize(
    "path",
    [
        pytest.param("/unknown", id="nowhere"),
        pytest.param("/apis/unknown.example.com", id="no such group"),
        pytest.param("/apis/unknown.example.com/v1/things", id="a kind of no such group"),
        pytest.param("//api/v1", id="two slashes lead"),
        pytest.param("/healthz/", id="health and a slash"),
        pytest.param("/livez/unknown", id="no such check"),
        pytest.param("/metrics/", id="metrics and a slash"),
        pytest.param("/openapi/v2/", id="OpenAPI and a slash"),
    ],
)
async def test_there_is_no_such_page(api: Api, path: str) -> None:
    answer = await api.send("GET", path)
    assert (answer.status, answer.body, answer.content_type) == (
        404,
        b"404 page not found\n",
        "text/plain; charset=utf-8",
    )
    assert ("X-Content-Type-Options", "nosniff") in answer.headers


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("HEAD", "/api/v1/pods"),
        ("HEAD", f"{IN_DEFAULT}/pods/x"),
        ("POST", "/api/v1/pods"),
        ("PUT", f"{IN_DEFAULT}/pods"),
        ("POST", f"{IN_DEFAULT}/pods/x"),
        ("UNKNOWN", f"{IN_DEFAULT}/pods/x"),
        ("GET", f"{IN_DEFAULT}/pods/x/eviction"),
        ("POST", f"{IN_DEFAULT}/pods/x/log"),
        ("DELETE", f"{IN_DEFAULT}/pods/x/exec"),
        ("DELETE", "/apis/apps/v1/watch/namespaces/default/deployments"),
        ("PUT", "/api/v1/watch/nodes/x"),
        ("UNKNOWN", "/api/v1/nodes/x/proxy"),
    ],
)
async def test_a_path_does_not_take_every_method(api: Api, method: str, path: str) -> None:
    status, refused = await api.ask(method, path)
    assert (status, refused["reason"], refused["message"]) == (405, "MethodNotAllowed", NO_METHOD)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (f"{IN_DEFAULT}/pods/..", """Name parameter invalid: "..": may not be '..'"""),
        (f"{IN_DEFAULT}/pods/%2e", """Name parameter invalid: ".": may not be '.'"""),
        (f"{IN_DEFAULT}/pods/a%25b", """Name parameter invalid: "a%b": may not contain '%'"""),
        ("/apis/apps/v1/namespaces/default/deployments/../scale", """Name parameter invalid: "..": may not be '..'"""),
        ("/api/v1/namespaces/../pods", """Namespace parameter invalid: "..": may not be '..'"""),
    ],
)
async def test_a_name_that_none_can_have(api: Api, path: str, message: str) -> None:
    status, refused = await api.ask("GET", path)
    assert (status, refused["reason"], refused["message"]) == (400, "BadRequest", message)


@pytest.mark.parametrize(
    ("path", "accept", "offered"),
    [
        pytest.param("/api/v1/pods", "text/html", f"{MEDIA}, {STREAMS}", id="a list"),
        pytest.param("/api/v1/pods?watch=1", "text/html", f"{MEDIA}, {STREAMS}", id="a watch"),
        pytest.param(f"{IN_DEFAULT}/pods/x", "text/html", MEDIA, id="an object, there or not"),
        pytest.param("/api/v1/nodes/x", "application/*", MEDIA, id="half a wildcard"),
        pytest.param("/api/v1/nodes/x", "APPLICATION/JSON", MEDIA, id="capitals"),
        pytest.param(f"{IN_DEFAULT}/pods/x/log", "text/html", f"text/plain, {MEDIA}", id="a log"),
    ],
)
async def test_a_route_answers_in_its_own_media_types(api: Api, path: str, accept: str, offered: str) -> None:
    status, refused = await api.ask("GET", path, accept=accept)
    assert (status, refused["reason"]) == (406, "NotAcceptable")
    assert refused["message"] == f"406: Not Acceptable\n\nAvailable representations: {offered}"


@pytest.mark.parametrize(
    ("path", "accept", "message"),
    [
        pytest.param(
            "/api/v1/nodes/x",
            "application/json;as=Table;g=meta.k8s.io;v=v2",
            f"only the following media types are accepted: {MEDIA}",
            id="an unknown version",
        ),
        pytest.param(
            "/apis/apps/v1",
            "application/json;as=Table;g=meta.k8s.io;v=v1",
            f"only the following media types are accepted: {MEDIA}",
            id="discovery is no table",
        ),
        pytest.param(
            "/api/v1/pods?watch=1",
            "application/yaml",
            f"only the following media types are accepted: {STREAMS}",
            id="a watch is no YAML",
        ),
        pytest.param(
            "/apis/rbac.authorization.k8s.io/v1/clusterroles",
            "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
            "you requested PartialObjectMetadata, but the requested object is a list (*rbac.ClusterRoleList)",
            id="one of a list",
        ),
        pytest.param(
            IN_DEFAULT,
            "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
            "you requested PartialObjectMetadataList, but the requested object is not a list (*core.Namespace)",
            id="a list of one",
        ),
    ],
)
async def test_a_form_that_cannot_be_made(api: Api, path: str, accept: str, message: str) -> None:
    answer = await api.send("GET", path, accept=accept)
    assert answer.status == 406
    assert yamltext.parse(answer.body).value["message"] == message


async def test_a_weight_of_nothing_is_better_than_nothing(api: Api) -> None:
    assert (await api.send("GET", IN_DEFAULT, accept="application/json;q=0")).status == 200
    answer = await api.send("GET", IN_DEFAULT, accept="application/json;q=0,application/yaml;q=0.1")
    assert answer.content_type == "application/yaml"


async def test_a_refusal_is_never_a_table(api: Api) -> None:
    answer = await api.send("GET", "/api/v1/nodes/x", accept="application/yaml;as=Table;g=meta.k8s.io;v=v1")
    assert (answer.status, answer.content_type) == (404, "application/json")


@pytest.mark.parametrize("content_type", ["", "text/plain", "application/json", "application/json-patch"])
async def test_a_patch_says_its_language(api: Api, content_type: str) -> None:
    status, refused = await api.ask("PATCH", IN_DEFAULT, b"{}", content_type=content_type)
    assert (status, refused["message"]) == (415, "415: Unsupported Media Type")


async def test_a_content_type_is_well_formed(api: Api) -> None:
    path, body = f"{IN_DEFAULT}/configmaps", b'{"metadata":{"name":"x"}}'
    assert (await api.ask("POST", path, body, content_type="application/json;charset"))[0] == 415
    assert (await api.ask("POST", path, body, content_type="application/json;charset=utf-8"))[0] == 201


async def test_a_service_that_is_not_there_has_no_endpoints(api: Api) -> None:
    status, refused = await api.ask("GET", f"{IN_DEFAULT}/services/x/proxy/")
    assert (status, refused["message"]) == (503, 'no endpoints available for service "x"')


TABLE = "application/json;as=Table;g=meta.k8s.io;v="
METADATA = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"


async def test_a_table_is_of_one_version_throughout(api: Api) -> None:
    table = await api.ok("GET", "/api/v1/namespaces", accept=f"{TABLE}v1beta1")
    assert table["apiVersion"] == "meta.k8s.io/v1beta1"
    assert {row["object"]["apiVersion"] for row in table["rows"]} == {"meta.k8s.io/v1beta1"}


async def test_nothing_has_two_forms(api: Api) -> None:
    listed = await api.ok("GET", "/api/v1/pods", accept=METADATA.replace("Metadata;", "MetadataList;"))
    assert listed["items"] is None
    assert (await api.ok("GET", "/api/v1/pods", accept=f"{TABLE}v1"))["rows"] == []
    unprinted = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    assert (await api.ok("GET", unprinted, accept=f"{TABLE}v1"))["rows"] is None


async def test_a_table_shows_what_an_old_version_cannot_say(api: Api) -> None:
    scalers = "/namespaces/default/horizontalpodautoscalers"
    metric = {
        "type": "Pods",
        "pods": {"metric": {"name": "p"}, "target": {"type": "AverageValue", "averageValue": "5"}},
    }
    target = {"kind": "Deployment", "name": "d", "apiVersion": "apps/v1"}
    spec = {"scaleTargetRef": target, "maxReplicas": 3, "metrics": [metric]}
    await api.ok("POST", f"/apis/autoscaling/v2{scalers}", {"metadata": {"name": "x"}, "spec": spec})
    old = f"/apis/autoscaling/v1{scalers}"
    [row] = (await api.ok("GET", f"{old}/x?includeObject=Object", accept=f"{TABLE}v1"))["rows"]
    assert row["cells"][2] == "<unknown>/5"
    assert row["object"]["apiVersion"] == "autoscaling/v1"
    assert "annotations" in row["object"]["metadata"]
    assert "annotations" not in (await api.ok("GET", f"{old}/x", accept=METADATA))["metadata"]
    [item] = (await api.ok("GET", old))["items"]
    assert item.keys() == {"metadata", "spec", "status"}


async def test_a_headless_service_without_selector_may_be_of_both_families(api: Api) -> None:
    made = await api.ok("POST", f"{IN_DEFAULT}/services", {"metadata": {"name": "x"}, "spec": {"clusterIP": "None"}})
    assert (made["spec"]["ipFamilyPolicy"], made["spec"]["ipFamilies"]) == ("RequireDualStack", ["IPv4", "IPv6"])


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("limit=", 'strconv.ParseInt: parsing "": invalid syntax'),
        ("limit=99999999999999999999", 'strconv.ParseInt: parsing "99999999999999999999": value out of range'),
        (
            "resourceVersion=-1",
            'invalid resource version: resourceVersion: Invalid value: "-1": '
            'strconv.ParseUint: parsing "-1": invalid syntax',
        ),
        (
            "resourceVersion=99999999999999999999",
            'invalid resource version: resourceVersion: Invalid value: "99999999999999999999": '
            'strconv.ParseUint: parsing "99999999999999999999": value out of range',
        ),
    ],
)
async def test_numbers_are_numbers(api: Api, query: str, message: str) -> None:
    status, refused = await api.ask("GET", f"/api/v1/pods?{query}")
    assert (status, refused["message"]) == (400, message)


@pytest.mark.parametrize("query", ["labelSelector=%zz", "limit=3;", "resourceVersion=x;y", "watch=FALSE", "watch=0"])
async def test_what_is_written_wrongly_in_a_query_is_not_there(api: Api, query: str) -> None:
    assert (await api.ok("GET", f"/api/v1/pods?{query}"))["kind"] == "PodList"


async def test_an_exact_list_does_not_wait_for_the_future(api: Api) -> None:
    status, refused = await api.ask("GET", "/api/v1/pods?resourceVersion=99999&resourceVersionMatch=Exact")
    assert (status, refused["reason"]) == (504, "Timeout")
    assert "retryAfterSeconds" not in refused["details"]


async def test_nothing_is_exported_any_more(api: Api) -> None:
    status, refused = await api.ask("GET", f"{IN_DEFAULT}?export=true")
    assert (status, refused["message"]) == (
        400,
        "the export parameter, deprecated since v1.14, is no longer supported",
    )


async def test_an_object_is_got_even_if_it_should_be_watched(api: Api) -> None:
    assert (await api.ok("GET", f"{IN_DEFAULT}?watch=true"))["kind"] == "Namespace"


@pytest.mark.parametrize("version", ["", "&resourceVersion=0"])
async def test_a_watch_without_initial_events_begins_now(api: Api, version: str) -> None:
    spaces = "/api/v1/namespaces"
    query = f"watch=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan{version}"
    response = await api.send("GET", f"{spaces}?{query}")
    assert response.stream is not None
    assert await anext(response.stream) == b""
    await api.ok("POST", spaces, {"metadata": {"name": "new"}})
    event = orjson.loads(await anext(response.stream))
    assert (event["type"], event["object"]["metadata"]["name"]) == ("ADDED", "new")


async def test_a_bookmark_is_a_version_and_nothing_more(api: Api) -> None:
    query = "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
    async with api.watching(f"/api/v1/pods?{query}") as events:
        event = await anext(events)
    assert event["type"] == "BOOKMARK"
    assert event["object"].keys() == {"kind", "apiVersion", "metadata"}
    assert event["object"]["metadata"].keys() == {"resourceVersion", "annotations"}


UNLESS = (
    "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"
)
REQUIRES = "resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"
UNSUPPORTED = 'resourceVersionMatch: Unsupported value: "Exact": supported values: "NotOlderThan"'
CONTINUED = "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is provided"


@pytest.mark.parametrize(
    ("query", "wrong"),
    [
        ("resourceVersionMatch=NotOlderThan", UNLESS),
        ("resourceVersionMatch=Exact", f"[{UNLESS}, {UNSUPPORTED}]"),
        ("sendInitialEvents=true", REQUIRES),
        ("sendInitialEvents=false&resourceVersionMatch=Exact", f"[{REQUIRES}, {UNSUPPORTED}]"),
        ("continue=x", CONTINUED),
    ],
)
async def test_watches_that_contradict_themselves(api: Api, query: str, wrong: str) -> None:
    status, refused = await api.ask("GET", f"/api/v1/pods?watch=1&{query}")
    assert (status, refused["message"]) == (422, f'ListOptions.meta.k8s.io "" is invalid: {wrong}')


async def test_what_cannot_be_watched_says_so(api: Api) -> None:
    status, refused = await api.ask("GET", "/api/v1/componentstatuses?watch=1")
    assert (status, refused["message"]) == (405, 'watch is not supported on resources of kind "componentstatuses"')


def named(name: str, **fields: object) -> dict[str, object]:
    return {"metadata": {"name": name, "labels": {"x": "y"}}, **fields}


async def test_what_goes_at_once_goes_as_it_was(api: Api) -> None:
    accounts = f"{IN_DEFAULT}/serviceaccounts"
    made = await api.ok("POST", accounts, named("a"))
    gone = await api.ok("DELETE", f"{accounts}/a")
    assert int(gone["metadata"].pop("resourceVersion")) > int(made["metadata"].pop("resourceVersion"))
    assert gone == made


async def test_a_deleted_collection_is_answered_with_its_list(api: Api) -> None:
    jobs = "/apis/batch/v1/namespaces/default/jobs"
    containers = [{"name": "c", "image": "i"}]
    spec = {"template": {"spec": {"restartPolicy": "Never", "containers": containers}}}
    await api.ok("POST", jobs, named("a", spec=spec))
    before = await api.ok("GET", f"{jobs}?labelSelector=x")
    response = await api.send("DELETE", f"{jobs}?labelSelector=x")
    assert orjson.loads(response.body) == before
    [warning] = [text for name, text in response.headers if name == "Warning"]
    assert warning.startswith('299 - "child pods are preserved by default when jobs are deleted; set propagation')
    quiet = await api.send("DELETE", f"{jobs}/a?propagationPolicy=Background")
    assert "Warning" not in dict(quiet.headers)


async def test_a_precondition_names_the_kind(api: Api) -> None:
    sets = "/apis/apps/v1/namespaces/default/controllerrevisions"
    await api.ok("POST", sets, named("a", revision=1, data={"b": 1}))
    status, refused = await api.ask("DELETE", f"{sets}/a", {"preconditions": {"uid": "other"}})
    assert (status, refused["details"]["kind"]) == (409, "ControllerRevision")
    assert refused["message"].startswith('Operation cannot be fulfilled on ControllerRevision.apps "a": the UID in the')


async def test_success_is_never_a_table(api: Api) -> None:
    await api.ok("POST", f"{IN_DEFAULT}/configmaps", named("a"))
    answer = await api.ok("DELETE", f"{IN_DEFAULT}/configmaps/a", accept=f"{TABLE}v1")
    assert (answer["kind"], answer["status"]) == ("Status", "Success")


@pytest.mark.parametrize(
    ("query", "agent", "is_pretty"),
    [
        ("", "curl/8", True),
        ("?pretty=false", "curl/8", False),
        ("?pretty=False", "x", False),
        ("?pretty=0", "x", False),
        ("?pretty=1", "x", True),
        ("", "x", False),
    ],
)
async def test_people_get_their_answers_indented(api: Api, query: str, agent: str, is_pretty: bool) -> None:
    answer = await api.send("GET", IN_DEFAULT + query, user_agent=agent)
    assert (b'\n  "metadata"' in answer.body) is is_pretty
