"""Custom resources take the walk of every kind: written, read, patched, scaled, printed and watched."""

from __future__ import annotations

from typing import Any

import pytest

from tests.apiserver.asking import Api
from tests.apiserver.custom.samples import (
    DEFINITIONS,
    GADGETS,
    INTEGER,
    SCALE,
    SPEC,
    STRING,
    define,
    definition,
    gadget,
    heard,
    version,
)

Json = dict[str, Any]

MERGE = "application/merge-patch+json"
BETA = GADGETS.replace("/v1/", "/v1beta1/")


async def patch(api: Api, path: str, change: Any, content_type: str = MERGE) -> tuple[int, Json]:
    return await api.ask("PATCH", path, change, content_type=content_type)


async def test_an_object_is_pruned_completed_and_counted(api: Api) -> None:
    await define(api)
    response = await api.send("POST", GADGETS, gadget(spec={"bogus": 1, "free": {"any": 1}}, status={"phase": "x"}))
    warnings = [value for name, value in response.headers if name == "Warning"]
    assert (response.status, warnings) == (201, ['299 - "unknown field \\"spec.bogus\\""'])
    made = await api.ok("GET", f"{GADGETS}/a")
    assert made["spec"] == {"color": "red", "free": {"any": 1}}
    assert "status" not in made
    assert made["metadata"]["generation"] == 1
    status, patched = await patch(api, f"{GADGETS}/a", {"spec": {"size": 2}, "status": {"phase": "x"}})
    assert (status, patched["metadata"]["generation"], "status" in patched) == (200, 2, False)
    status, patched = await patch(
        api, f"{GADGETS}/a/status", {"spec": {"size": 3}, "status": {"phase": "y"}, "metadata": {"labels": {"a": "b"}}}
    )
    assert (status, patched["metadata"]["generation"], patched["spec"]["size"]) == (200, 2, 2)
    assert patched["status"] == {"phase": "y"}
    assert "labels" not in patched["metadata"]


async def test_without_a_status_endpoint_status_is_like_any_field(api: Api) -> None:
    await define(api, definition(version()))
    made = await api.ok("POST", GADGETS, gadget(status={"phase": "x"}))
    assert made["status"] == {"phase": "x"}
    _, patched = await patch(api, f"{GADGETS}/a", {"status": {"phase": "y"}})
    assert patched["metadata"]["generation"] == 2
    status, refused = await api.ask("GET", f"{GADGETS}/a/status")
    assert (status, refused["message"]) == (404, 'gadgets.shop.example.com "a" not found')


NO_KIND = '{"metadata":{"name":"a"}}'
VERSIONS = "does not match the expected API version (shop.example.com/v1)"
INVALID = 'Gadget.shop.example.com "a" is invalid:'
UNREADABLE = 'Gadget in version "v1" cannot be handled as a Gadget:'
REFUSED: list[tuple[str, Any, int, str]] = [
    (
        "no kind",
        NO_KIND.encode(),
        400,
        "the object provided is unrecognized (must be of type Gadget): "
        f"Object 'Kind' is missing in '{NO_KIND}' ({NO_KIND})",
    ),
    ("no version", {"kind": "Gadget"}, 400, f"the API version in the data () {VERSIONS}"),
    ("another version", gadget(version="v2"), 400, f"the API version in the data (shop.example.com/v2) {VERSIONS}"),
    (
        "another kind",
        gadget(kind="Gizmo"),
        422,
        'Gizmo.shop.example.com "a" is invalid: kind: Invalid value: "Gizmo": must be Gadget',
    ),
    (
        "labels of numbers",
        gadget(metadata={"labels": {"a": 1}}),
        400,
        f"{UNREADABLE} json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string",
    ),
    (
        "no name",
        gadget(metadata={}),
        422,
        'Gadget.shop.example.com "" is invalid: metadata.name: Required value: name or generateName is required',
    ),
    (
        "wrong type",
        gadget(spec={"size": "x"}),
        422,
        f'{INVALID} [spec.size: Invalid value: "string": spec.size in body must be of type integer: "string", '
        ".spec.size: Invalid value: 0: .spec.size accessor error: x is of the type string, expected int64]",
    ),
    (
        "not listed",
        gadget(spec={"color": "green"}),
        422,
        f'{INVALID} spec.color: Unsupported value: "green": supported values: "red", "blue"',
    ),
    (
        "twice in a set",
        gadget(spec={"tags": ["a", "a"]}),
        422,
        f'{INVALID} spec.tags[1]: Duplicate value: "a"',
    ),
]


@pytest.mark.parametrize(("body", "code", "message"), [pytest.param(*row[1:], id=row[0]) for row in REFUSED])
async def test_refusals_are_in_the_words_of_kube_apiserver(api: Api, body: Any, code: int, message: str) -> None:
    await define(api)
    status, refused = await api.ask("POST", GADGETS, body)
    assert (status, refused["message"]) == (code, message)


async def test_strict_clients_are_refused(api: Api) -> None:
    await define(api)
    body = (
        b'{"apiVersion":"shop.example.com/v1","kind":"Gadget","metadata":{"name":"a","x":1},'
        b'"spec":{"size":1,"size":2,"y":1}}'
    )
    status, refused = await api.ask("POST", f"{GADGETS}?fieldValidation=Strict", body)
    assert (status, refused["message"]) == (
        400,
        'Gadget in version "v1" cannot be handled as a Gadget: strict decoding error: duplicate field "spec.size", '
        'unknown field "metadata.x", unknown field "spec.y"',
    )


async def test_a_put_must_say_what_it_replaces(api: Api) -> None:
    await define(api)
    made = await api.ok("POST", GADGETS, gadget())
    status, refused = await api.ask("PUT", f"{GADGETS}/a", gadget(spec={"size": 1}))
    assert (status, refused["message"]) == (
        422,
        'gadgets.shop.example.com "a" is invalid: metadata.resourceVersion: Invalid value: 0: '
        "must be specified for an update",
    )
    made["spec"] = {"size": 1}
    assert (await api.ok("PUT", f"{GADGETS}/a", made))["spec"] == {"color": "red", "size": 1}


async def test_nobody_knows_how_to_merge_strategically(api: Api) -> None:
    await define(api)
    await api.ok("POST", GADGETS, gadget())
    status, refused = await patch(api, f"{GADGETS}/a", {}, "application/strategic-merge-patch+json")
    assert (status, refused["message"]) == (
        415,
        "the body of the request was in an unknown format - accepted media types include: "
        "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml",
    )


async def test_what_was_wrong_before_may_stay_wrong(api: Api) -> None:
    made = await define(api)
    await api.ok("POST", GADGETS, gadget(spec={"size": 1, "color": "blue"}))
    schema = made["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    schema["properties"]["spec"]["properties"]["size"]["minimum"] = 5
    await api.ok("PUT", f"{DEFINITIONS}/gadgets.shop.example.com", made)
    await heard(api)
    status, _ = await patch(api, f"{GADGETS}/a", {"spec": {"color": "red"}})
    assert status == 200
    status, refused = await patch(api, f"{GADGETS}/a", {"spec": {"size": 2}})
    assert (status, refused["details"]["causes"][0]["message"]) == (
        422,
        "Invalid value: 2: spec.size in body should be greater than or equal to 5",
    )


async def test_an_older_object_is_read_as_the_schema_says_now(api: Api) -> None:
    made = await define(api)
    await api.ok("POST", GADGETS, gadget(spec={"size": 1}))
    before = (await api.ok("GET", GADGETS))["metadata"]["resourceVersion"]
    spec = made["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    del spec["color"]
    spec["flavour"] = {"type": "string", "default": "mild"}
    await api.ok("PUT", f"{DEFINITIONS}/gadgets.shop.example.com", made)
    await heard(api)
    wanted = {"size": 1, "flavour": "mild"}
    assert (await api.ok("GET", f"{GADGETS}/a"))["spec"] == wanted
    assert (await api.ok("GET", GADGETS))["items"][0]["spec"] == wanted
    await api.ok("DELETE", f"{GADGETS}/a")
    async with api.watching(f"{GADGETS}?watch=1&resourceVersion={before}") as events:
        event = await anext(events)
    assert (event["type"], event["object"]["spec"]) == ("DELETED", wanted)


TWO = (
    version(spec=SPEC | {"properties": SPEC["properties"] | {"only": STRING}}),
    version(
        "v1beta1",
        {"type": "object", "properties": {"color": STRING, "late": STRING | {"default": "yes"}}, "default": {}},
        storage=False,
        deprecated=True,
    ),
    version("v1alpha1", storage=False, deprecated=True, deprecationWarning="use something else"),
)


async def test_versions_differ_in_name_and_schema(api: Api) -> None:
    """What a version fills in must survive the stored one's schema; reading fills in what the stored one says."""
    await define(api, definition(*TWO))
    made = await api.ok("POST", BETA, gadget(version="v1beta1"))
    assert (made["apiVersion"], made["spec"]) == ("shop.example.com/v1beta1", {"color": "red"})
    assert (await api.ok("GET", f"{GADGETS}/a"))["spec"] == {"color": "red"}
    _, patched = await patch(api, f"{GADGETS}/a", {"spec": {"only": "here"}})
    assert patched["apiVersion"] == "shop.example.com/v1"
    listed = await api.ok("GET", BETA)
    assert (listed["apiVersion"], listed["kind"]) == ("shop.example.com/v1beta1", "GadgetList")
    assert [(item["apiVersion"], item["spec"]) for item in listed["items"]] == [
        ("shop.example.com/v1beta1", {"color": "red"})
    ]
    async with api.watching(f"{BETA}?watch=1") as events:
        assert (await anext(events))["object"]["apiVersion"] == "shop.example.com/v1beta1"


async def test_objects_outlive_the_version_they_are_stored_in(api: Api) -> None:
    made = await define(api, definition(*TWO))
    await api.ok("POST", GADGETS, gadget(spec={"color": "blue", "only": "here"}))
    made["spec"]["versions"][0] |= {"storage": False, "served": False}
    made["spec"]["versions"][1]["storage"] = True
    await api.ok("PUT", f"{DEFINITIONS}/gadgets.shop.example.com", made)
    await heard(api)
    assert (await api.ok("GET", f"{BETA}/a"))["spec"] == {"color": "blue"}
    _, patched = await patch(api, f"{BETA}/a", {"spec": {"color": "red"}})
    assert patched["spec"] == {"color": "red", "late": "yes"}


@pytest.mark.parametrize(
    ("served", "warning"),
    [
        ("v1", []),
        ("v1beta1", ['299 - "shop.example.com/v1beta1 Gadget is deprecated; use shop.example.com/v1 Gadget"']),
        ("v1alpha1", ['299 - "use something else"']),
    ],
)
async def test_whoever_uses_an_old_version_is_told(api: Api, served: str, warning: list[str]) -> None:
    await define(api, definition(*TWO))
    response = await api.send("GET", GADGETS.replace("/v1/", f"/{served}/"))
    assert [value for name, value in response.headers if name == "Warning"] == warning


async def test_what_no_longer_can_be_decoded_can_still_be_read(api: Api) -> None:
    made = await define(api)
    await api.ok("POST", GADGETS, gadget(spec={"free": {"metadata": {"labels": {"a": 1}}}}))
    free = made["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["free"]
    free["x-kubernetes-embedded-resource"] = True
    await api.ok("PUT", f"{DEFINITIONS}/gadgets.shop.example.com", made)
    await heard(api)
    assert len((await api.ok("GET", GADGETS))["items"]) == 1


async def test_a_scale_is_where_the_definition_says(api: Api) -> None:
    await define(api)
    await api.ok("POST", GADGETS, gadget(spec={"size": 3}))
    await patch(api, f"{GADGETS}/a/status", {"status": {"size": 1, "selector": "a=b"}})
    scale = await api.ok("GET", f"{GADGETS}/a/scale")
    assert (scale["kind"], scale["spec"], scale["status"]) == (
        "Scale",
        {"replicas": 3},
        {"replicas": 1, "selector": "a=b"},
    )
    scale["spec"]["replicas"] = 5
    await api.ok("PUT", f"{GADGETS}/a/scale", scale)
    _, patched = await patch(api, f"{GADGETS}/a/scale", {"spec": {"replicas": 7}})
    assert patched["spec"] == {"replicas": 7}
    assert (await api.ok("GET", f"{GADGETS}/a"))["spec"]["size"] == 7
    status, refused = await patch(api, f"{GADGETS}/a/scale", {"spec": {"replicas": -1}})
    assert (status, refused["message"]) == (
        422,
        'Gadget.shop.example.com "a" is invalid: .spec.size: Invalid value: -1: should be a non-negative integer',
    )


async def test_a_scale_needs_replicas(api: Api) -> None:
    await define(api)
    await api.ok("POST", GADGETS, gadget())
    status, refused = await api.ask("GET", f"{GADGETS}/a/scale")
    assert (status, refused["message"]) == (
        500,
        'Internal error occurred: the spec replicas field ".spec.size" does not exist',
    )
    status, refused = await patch(api, f"{GADGETS}/a/scale", {"spec": {}})
    assert (status, refused["message"]) == (400, 'the spec replicas field ".spec.size" cannot be empty')


async def test_columns_are_the_definitions(api: Api) -> None:
    columns = [
        {"name": "Color", "type": "string", "jsonPath": ".spec.color"},
        {"name": "Size", "type": "integer", "jsonPath": ".spec.size", "priority": 1, "description": "How big."},
    ]
    await define(api, definition(version(additionalPrinterColumns=columns)))
    await api.ok("POST", GADGETS, gadget(spec={"size": 3}))
    table = await api.ok("GET", GADGETS, accept="application/json;as=Table;v=v1;g=meta.k8s.io")
    assert [(each["name"], each["priority"]) for each in table["columnDefinitions"]] == [
        ("Name", 0),
        ("Color", 0),
        ("Size", 1),
    ]
    assert table["rows"][0]["cells"] == ["a", "red", 3]


async def test_fields_can_be_selected_where_the_definition_says(api: Api) -> None:
    await define(api, definition(version(selectableFields=[{"jsonPath": ".spec.color"}, {"jsonPath": ".spec.size"}])))
    for name, spec in {"a": {"color": "red"}, "b": {"color": "blue", "size": 2}}.items():
        await api.ok("POST", GADGETS, gadget(name, spec=spec))
    for selector, names in {"spec.color=blue": ["b"], "spec.color!=blue": ["a"], "spec.size=2": ["b"]}.items():
        listed = await api.ok("GET", f"{GADGETS}?fieldSelector={selector}")
        assert [item["metadata"]["name"] for item in listed["items"]] == names
    status, refused = await api.ask("GET", f"{GADGETS}?fieldSelector=spec.tags=x")
    assert (status, refused["message"]) == (400, "field label not supported: spec.tags")


async def test_discovery_tells_names_and_parts(api: Api) -> None:
    names = {"plural": "gadgets", "kind": "Gadget", "shortNames": ["gd"], "categories": ["all"]}
    parts = version(subresources={"status": {}, "scale": SCALE})
    await define(api, definition(parts, version("v1beta1", storage=False), names=names))
    listed = await api.ok("GET", "/apis/shop.example.com/v1")
    assert [each["name"] for each in listed["resources"]] == ["gadgets", "gadgets/status", "gadgets/scale"]
    first = listed["resources"][0]
    assert (first["singularName"], first["shortNames"], first["categories"]) == ("gadget", ["gd"], ["all"])
    together = await api.ok(
        "GET", "/apis", accept="application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    )
    (shop,) = [each for each in together["items"] if each["metadata"]["name"] == "shop.example.com"]
    (told,) = shop["versions"][0]["resources"]
    assert told["responseKind"] == {"group": "shop.example.com", "version": "v1", "kind": "Gadget"}
    assert [each["responseKind"] for each in told["subresources"]] == [
        {"group": "shop.example.com", "version": "v1", "kind": "Gadget"},
        {"group": "autoscaling", "version": "v1", "kind": "Scale"},
    ]
    group = await api.ok("GET", "/apis/shop.example.com")
    assert [each["version"] for each in group["versions"]] == ["v1", "v1beta1"]


async def test_openapi_tells_the_schema(api: Api) -> None:
    await define(api)
    document = await api.ok("GET", "/openapi/v3/apis/shop.example.com/v1")
    schema = document["components"]["schemas"]["com.example.shop.v1.Gadget"]
    assert schema["properties"]["spec"]["properties"]["size"] == INTEGER
    assert "/apis/shop.example.com/v1/namespaces/{namespace}/gadgets/{name}/scale" in document["paths"]


@pytest.mark.parametrize("kind", ["Pod", "Namespace", "Service", "Job", "Event", "Binding", "Secret"])
async def test_a_custom_kind_is_not_taken_for_a_built_in_one(api: Api, kind: str) -> None:
    """Knative's Service, for one, shares its name with Kubernetes' own."""
    plural = f"{kind.lower()}s"
    await define(api, definition(version(subresources={"status": {}}), plural=plural, kind=kind))
    path = GADGETS.replace("gadgets", plural)
    body = gadget(kind=kind, metadata={"name": "a", "finalizers": ["a.b/c"]})
    await api.ok("POST", path, body)
    await api.ok("DELETE", f"{path}/a")
    left = (await api.ok("GET", f"{path}/a"))["metadata"]
    assert (left["deletionGracePeriodSeconds"], left["generation"]) == (0, 2)
    await patch(api, f"{path}/a", {"metadata": {"finalizers": None}})
    assert (await api.send("GET", f"{path}/a")).status == 404
    assert (await api.send("PUT", f"{path}/new", gadget("new", kind=kind))).status == 404
