from __future__ import annotations

import copy
import json
import os
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardpoint.machinery import jsontext, kinds, shapes
from hardpoint.machinery.shapes import Shape, refusals
from tests.machinery import shape_samples

REFERENCE = Path(os.environ.get("HARDPOINT_REFERENCE") or Path(__file__).parents[3] / "shared/reference")
KINDS = kinds.builtin()
POD = shapes.shape("v1", "Pod")


def pod(**spec: Any) -> dict[str, Any]:
    return {"spec": {"containers": [{"name": "c"}], **spec}}


@pytest.mark.parametrize(
    ("kind", "value", "what", "where", "go_type"),
    [
        ("Pod", {"metadata": ""}, "string", "Pod.metadata", "v1.ObjectMeta"),
        ("Pod", {"metadata": {"labels": 1}}, "number", "ObjectMeta.metadata.labels", "map[string]string"),
        ("Pod", {"metadata": {"labels": {"a": {}}}}, "object", "ObjectMeta.metadata.labels", "string"),
        ("Pod", {"metadata": {"uid": 1}}, "number", "ObjectMeta.metadata.uid", "types.UID"),
        ("Pod", {"metadata": {"creationTimestamp": 1}}, "number", "ObjectMeta.metadata.creationTimestamp", "string"),
        ("Pod", {"spec": {"containers": {}}}, "object", "PodSpec.spec.containers", "[]v1.Container"),
        ("Pod", {"spec": {"containers": [1]}}, "number", "PodSpec.spec.containers", "v1.Container"),
        ("Pod", pod(restartPolicy=[]), "array", "PodSpec.spec.restartPolicy", "v1.RestartPolicy"),
        ("Pod", pod(overhead=True), "bool", "PodSpec.spec.overhead", "v1.ResourceList"),
        ("Pod", pod(priority=2**31), "number 2147483648", "PodSpec.spec.priority", "int32"),
        ("Pod", pod(priority=1.5), "number 1.5", "PodSpec.spec.priority", "int32"),
        ("Pod", pod(priority=1.0), "number 1.0", "PodSpec.spec.priority", "int32"),
        ("Pod", pod(priority="1"), "string", "PodSpec.spec.priority", "int32"),
        (
            "Pod",
            pod(terminationGracePeriodSeconds=2**63),
            "number 9223372036854775808",
            "PodSpec.spec.terminationGracePeriodSeconds",
            "int64",
        ),
        (
            "Pod",
            pod(volumes=[{"name": "v", "emptyDir": ""}]),
            "string",
            "Volume.spec.volumes.VolumeSource.emptyDir",
            "v1.EmptyDirVolumeSource",
        ),
        (
            "Pod",
            {"spec": {"containers": [{"livenessProbe": {"httpGet": {"port": []}}}]}},
            "array",
            "HTTPGetAction.spec.containers.livenessProbe.ProbeHandler.httpGet.port",
            "int32",
        ),
        (
            "Pod",
            {"spec": {"containers": [{"securityContext": {"capabilities": {"drop": [1]}}}]}},
            "number",
            "Capabilities.spec.containers.securityContext.capabilities.drop",
            "v1.Capability",
        ),
        ("Secret", {"data": {"a": 1}}, "number", "Secret.data", "[]uint8"),
        ("Secret", {"data": []}, "array", "Secret.data", "map[string][]uint8"),
        ("Secret", {"data": {"a": [1, 256]}}, "number 256", "Secret.data", "uint8"),
    ],
)
def test_a_misfit_is_refused_in_go_s_words(kind: str, value: Any, what: str, where: str, go_type: str) -> None:
    with pytest.raises(shapes.TypeMismatch) as refused:
        shapes.shape("v1", kind).decode(value)
    assert str(refused.value) == f"json: cannot unmarshal {what} into Go struct field {where} of type {go_type}"


INTO_SCHEMA = "into Go struct field JSONSchemaProps.spec.versions.schema.openAPIV3Schema"


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ({"type": 1}, f"json: cannot unmarshal number {INTO_SCHEMA}.type of type string"),
        ({"items": {"type": 1}}, f"json: cannot unmarshal number {INTO_SCHEMA}.items.type of type string"),
        ({"additionalProperties": 1}, "boolean or JSON schema expected"),
        ({"maximum": "1"}, f"json: cannot unmarshal string {INTO_SCHEMA}.maximum of type float64"),
        (
            {"x-kubernetes-validations": 1},
            f"json: cannot unmarshal number {INTO_SCHEMA}.x-kubernetes-validations of type v1.ValidationRules",
        ),
        ({"dependencies": {"a": [1]}}, f"json: cannot unmarshal number {INTO_SCHEMA}.dependencies of type string"),
    ],
)
def test_schemas_are_refused_in_go_s_words(schema: Any, reason: str) -> None:
    definition = {"spec": {"versions": [{"schema": {"openAPIV3Schema": schema}}]}}
    with pytest.raises(shapes.TypeMismatch) as refused:
        shapes.shape("apiextensions.k8s.io/v1", "CustomResourceDefinition").decode(definition)
    assert str(refused.value) == reason


@pytest.mark.parametrize(
    ("given_schema", "left"),
    [
        ({"items": []}, {"items": None}),
        ({"items": "x"}, {"items": None}),
        ({"items": [{"type": "x", "unknown": 1}]}, {"items": [{"type": "x"}]}),
        ({"items": {"unknown": 1}}, {"items": {}}),
        ({"additionalProperties": False}, {"additionalProperties": False}),
        ({"additionalProperties": {"default": None}}, {"additionalProperties": {}}),
        ({"dependencies": {"a": ["b", None], "c": 1}}, {"dependencies": {"a": ["b", ""], "c": None}}),
        ({"enum": [None, 1.0, {"a": None}]}, {"enum": [None, 1.0, {"a": None}]}),
        ({"maximum": 1.0, "minimum": 0, "multipleOf": 0.5}, {"maximum": 1, "minimum": 0, "multipleOf": 0.5}),
        ({"default": {"a": None}}, {"default": {"a": None}}),
    ],
)
def test_schemas_are_left_as_go_leaves_them(given_schema: Any, left: Any) -> None:
    definition = {"spec": {"versions": [{"schema": {"openAPIV3Schema": given_schema}}]}}
    decoded = shapes.shape("apiextensions.k8s.io/v1", "CustomResourceDefinition").decode(definition)
    assert decoded.object["spec"]["versions"][0]["schema"]["openAPIV3Schema"] == left
    assert decoded.unknown == []


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ({"a": "Bad!"}, "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"),
        ({"a": {}}, "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"),
        ({"a": True}, "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"),
    ],
)
def test_quantities_are_refused_in_their_own_words(value: Any, reason: str) -> None:
    # The restart policy is wrong before, but a type that decodes itself ends everything.
    with pytest.raises(shapes.TypeMismatch) as refused:
        POD.decode(pod(restartPolicy=1, overhead=value))
    assert str(refused.value) == reason


@pytest.mark.parametrize(
    ("kind", "value", "left"),
    [
        ("Pod", {}, {"metadata": {}, "spec": {"containers": None}, "status": {}}),
        ("Pod", {"spec": None, "status": None}, {"metadata": {}, "spec": {"containers": None}, "status": {}}),
        (
            "Pod",
            {"metadata": {"labels": {}, "creationTimestamp": None, "generation": 0}},
            {"metadata": {}, "spec": {"containers": None}, "status": {}},
        ),
        (
            "Pod",
            {"metadata": {"labels": {"a": None}}, "spec": {"containers": []}},
            {"metadata": {"labels": {"a": ""}}, "spec": {"containers": None}, "status": {}},
        ),
        (
            "Pod",
            {
                "spec": {
                    "containers": [None],
                    "priority": 0,
                    "hostNetwork": False,
                    "hostname": "",
                    "runtimeClassName": "",
                }
            },
            {
                "metadata": {},
                "spec": {"containers": [{"name": "", "resources": {}}], "priority": 0, "runtimeClassName": ""},
                "status": {},
            },
        ),
        (
            "Pod",
            {"spec": {"containers": [], "overhead": {"cpu": 0.5, "memory": "1024Mi", "x": None}}},
            {
                "metadata": {},
                "spec": {"containers": None, "overhead": {"cpu": "500m", "memory": "1Gi", "x": "0"}},
                "status": {},
            },
        ),
        (
            "Secret",
            {"data": {"a": "", "b": None, "c": "YQ==\n", "d": [97]}},
            {"metadata": {}, "data": {"a": "", "b": None, "c": "YQ==", "d": "YQ=="}},
        ),
        ("Secret", {"immutable": False, "stringData": {}}, {"metadata": {}, "immutable": False}),
        (
            "ConfigMap",
            {"metadata": {"creationTimestamp": "2026-11-15T12:00:00.9+02:00"}},
            {"metadata": {"creationTimestamp": "2026-11-15T10:00:00Z"}},
        ),
        ("ConfigMap", {"metadata": {"creationTimestamp": "0001-01-01T00:00:00Z"}}, {"metadata": {}}),
        (
            "ConfigMap",
            {"metadata": {"managedFields": [{"fieldsV1": {"f:a": None}, "time": None}]}},
            {"metadata": {"managedFields": [{"fieldsV1": {"f:a": None}}]}},
        ),
    ],
)
def test_what_go_would_write_is_left(kind: str, value: Any, left: Any) -> None:
    before = copy.deepcopy(value)
    assert shapes.shape("v1", kind).decode(value) == (left, [])
    assert value == before


@pytest.mark.parametrize("path", ["priority", "terminationGracePeriodSeconds"])
def test_a_number_beyond_floats_is_refused_as_it_was_written(path: str) -> None:
    value = jsontext.parse(b'{"spec":{"%s":1e400}}' % path.encode()).value
    with pytest.raises(shapes.TypeMismatch, match=f"number 1e400 into Go struct field PodSpec.spec.{path} of type int"):
        POD.decode(value)


@pytest.mark.parametrize("number", [b"1e400", b"-1e400", b"9" * 5000])
def test_a_quantity_beyond_floats_is_read_or_refused(number: bytes) -> None:
    value = jsontext.parse(b'{"spec":{"overhead":{"a":%s}}}' % number).value
    try:
        assert isinstance(POD.decode(value).object["spec"]["overhead"]["a"], str)
    except shapes.TypeMismatch as refused:
        assert "quantit" in str(refused)  # noqa: PT017


def test_what_is_passed_through_may_be_beyond_floats() -> None:
    body = b'{"data":{"a":[1e400]},"revision":1}'
    decoded = shapes.shape("apps/v1", "ControllerRevision").decode(jsontext.parse(body).value)
    assert b"[1e400]" in jsontext.encode(decoded.object)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", 'parsing time "" as "2006-01-02T15:04:05Z07:00": cannot parse "" as "2006"'),
        ("2026-11-15", 'parsing time "2026-11-15" as "2006-01-02T15:04:05Z07:00": cannot parse "" as "T"'),
        ("2026-11-15 1Z", 'parsing time "2026-11-15 1Z" as "2006-01-02T15:04:05Z07:00": cannot parse " 1Z" as "T"'),
        ("2026-13-15T10:00:00Z", 'parsing time "2026-13-15T10:00:00Z": month out of range'),
        ("2026-02-30T10:00:00Z", 'parsing time "2026-02-30T10:00:00Z": day out of range'),
        ("2026-11-15T10:00:00Zx", 'parsing time "2026-11-15T10:00:00Zx": extra text: "x"'),
    ],
)
def test_times_are_refused_in_go_s_words(text: str, reason: str) -> None:
    with pytest.raises(shapes.TypeMismatch) as refused:
        POD.decode({"metadata": {"creationTimestamp": text}})
    assert str(refused.value) == reason


def test_a_lease_has_six_decimals() -> None:
    lease = shapes.shape("coordination.k8s.io/v1", "Lease")
    decoded = lease.decode({"spec": {"renewTime": "2026-11-15T10:00:00.000001+01:00"}})
    assert decoded.object["spec"] == {"renewTime": "2026-11-15T09:00:00.000001Z"}
    with pytest.raises(shapes.TypeMismatch, match=r'cannot parse "Z" as "\.000000"'):
        lease.decode({"spec": {"renewTime": "2026-11-15T10:00:00Z"}})


@pytest.mark.parametrize(
    ("text", "offset"), [("10x", 0), ("Bad_Value!", 3), ("=", 0), ("YQ=", 3), ("YQ=x", 2), ("YQ==x", 4), ("YWI=\n=", 5)]
)
def test_base64_is_refused_where_go_stops(text: str, offset: int) -> None:
    with pytest.raises(shapes.TypeMismatch) as refused:
        shapes.shape("v1", "Secret").decode({"data": {"a": text}})
    assert str(refused.value) == f"illegal base64 data at input byte {offset}"


@given(st.text("AQ=\n+x!", max_size=9))
def test_base64_is_refused_if_and_only_if_there_is_a_reason(text: str) -> None:
    try:
        shapes.shape("v1", "Secret").decode({"data": {"a": text}})
    except shapes.TypeMismatch as refused:
        assert "illegal base64 data" in str(refused)  # noqa: PT017


def test_unknown_fields_have_a_path() -> None:
    value = pod(bogus=1, containers=[{"name": "c", "bogus": {"deep": 1}, "env": [{"name": "e", "x": None}]}])
    decoded = POD.decode({"top": 1, **value})
    assert decoded.unknown == ["top", "spec.containers[0].bogus", "spec.containers[0].env[0].x", "spec.bogus"]
    assert decoded.object["spec"] == {"containers": [{"name": "c", "env": [{"name": "e"}], "resources": {}}]}


def test_names_are_case_sensitive() -> None:
    assert POD.decode({"Spec": {}}).unknown == ["Spec"]


def test_strict_decoding_complains_in_the_order_of_the_body() -> None:
    body = b"""{"spec": {"unknown": {"a": 1, "a": 2}, "unknown": 1, "priority": 1, "priority": 2, "containers": [
        {"name": "c", "bogus": 1, "image": "x", "image": "y", "resources": {"limits": {"cpu": 1, "cpu": 2}}}]}}"""
    parsed = jsontext.parse(body)
    assert POD.strict_errors(parsed.value, parsed.duplicates) == [
        'unknown field "spec.unknown"',
        'duplicate field "spec.priority"',
        'unknown field "spec.containers[0].bogus"',
        'duplicate field "spec.containers[0].image"',
        'duplicate field "spec.containers[0].resources.limits.cpu"',
    ]


def test_no_more_than_a_hundred_unknown_fields_are_named() -> None:
    assert len(POD.decode({f"x{number}": 1 for number in range(200)}).unknown) == 100


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ({"apiVersion": "v1", "kind": "Pod"}, ("v1", "Pod")),
        ({}, ("", "")),
        ({"kind": None}, ("", "")),
        (None, ("", "")),
    ],
)
def test_identify(value: Any, found: tuple[str, str]) -> None:
    assert refusals.identify(value) == found


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ({"apiVersion": "v1", "kind": 0}, "json: cannot unmarshal number into Go struct field .kind of type string"),
        (
            [],
            "json: cannot unmarshal array into Go value of type "
            r'struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }',
        ),
    ],
)
def test_what_cannot_be_identified_is_refused(value: Any, reason: str) -> None:
    with pytest.raises(shapes.TypeMismatch) as refused:
        refusals.identify(value)
    assert str(refused.value) == f"couldn't get version/kind; json parse error: {reason}"


def test_a_body_is_summed_up() -> None:
    assert refusals.unrecognized(b"", "Pod", "x").endswith("(must be of type Pod): x (<empty>)")
    assert refusals.unrecognized(b"[]", "Pod", "x").endswith("x (5b5d)")
    assert refusals.unrecognized(b'{"kind": 0}', "Pod", "x").endswith('x ({"kind": 0})')
    assert refusals.unrecognized(b"{" + b" " * 40, "Pod", "x").endswith("x ({" + " " * 29 + " ...)")


def test_fields_tell_how_to_merge() -> None:
    spec = POD.fields["spec"].element
    assert spec is not None
    containers = spec.fields["containers"]
    assert (containers.patch_strategy, containers.merge_key, containers.list_type) == ("merge", "name", "map")
    assert containers.list_map_keys == ("name",)
    assert containers.required
    assert containers.is_list
    volumes = spec.fields["volumes"]
    assert (volumes.patch_strategy, volumes.merge_key) == ("merge,retainKeys", "name")
    assert volumes.element is not None
    assert "emptyDir" in volumes.element.fields
    assert spec.fields["nodeSelector"].map_type == "atomic"
    assert spec.fields["restartPolicy"].enum == ("Always", "Never", "OnFailure")
    container = containers.element
    assert container is not None
    ports = container.fields["ports"].element
    assert ports is not None
    assert ports.fields["protocol"].default == "TCP"
    service = shapes.shape("v1", "Service").fields["spec"].element
    assert service is not None
    assert shapes.named("api.apps.v1.DeploymentSpec").fields["selector"].map_type == "atomic"
    assert POD.about["x-kubernetes-group-version-kind"] == [{"group": "", "kind": "Pod", "version": "v1"}]


def test_strangers_have_no_shape() -> None:
    assert shapes.find("v1", "Nope") is None
    with pytest.raises(KeyError):
        shapes.shape("v1", "Nope")


def test_a_schema_that_is_too_deep_is_refused() -> None:
    schema: dict[str, Any] = {}
    for _ in range(5000):
        schema = {"properties": {"a": schema}}
    definition = {"spec": {"versions": [{"schema": {"openAPIV3Schema": schema}}]}}
    with pytest.raises(shapes.TypeMismatch, match="exceeded max depth"):
        shapes.shape("apiextensions.k8s.io/v1", "CustomResourceDefinition").decode(definition)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: f"{kind.api_version}/{kind.kind}")
def test_what_go_wrote_stays_as_it_is(kind: kinds.Kind) -> None:
    shape = shapes.shape(kind.api_version, kind.kind)
    for seed in range(5):
        value = shape_samples.sample(shape, Random(seed))
        assert shape.decode(value) == (value, [])


@given(st.sampled_from(KINDS), st.integers(0, 5), st.randoms(), st.data())
def test_a_spoiled_object_is_decoded_or_refused(kind: kinds.Kind, seed: int, random: Any, data: st.DataObject) -> None:
    """The fast decoder and the slow walk must agree: a refusal has words, a mark has a path, and twice is once."""
    shape = shapes.shape(kind.api_version, kind.kind)
    value = shape_samples.sample(shape, Random(seed))
    spoil(value, random, data.draw(st.sampled_from(SPOILERS)))
    try:
        decoded = shape.decode(value)
    except shapes.TypeMismatch:
        return
    again = shape.decode(decoded.object)
    assert again == (decoded.object, [])


SPOILERS = [
    None,
    True,
    False,
    0,
    -1,
    2**31,
    2**63,
    2**64,
    1.0,
    1e300,
    "",
    "x",
    "1Gi",
    "YQ==",
    [],
    [None],
    [1],
    {},
    {"x": None},
]


def spoil(value: Any, random: Any, spoiler: Any) -> None:
    """Put something else in place of a random part."""
    while True:
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        key = random.choice(keys) if keys else None
        inner = None if key is None else value[key]
        if isinstance(inner, dict | list) and inner and random.random() < 0.8:
            value = inner
        else:
            break
    if key is None and isinstance(value, list):
        value.append(copy.deepcopy(spoiler))
    else:
        value["x" if key is None else key] = copy.deepcopy(spoiler)


@pytest.fixture(scope="module")
def answers() -> list[dict[str, Any]]:
    path = REFERENCE / "answers.jsonl"
    if not path.exists():
        pytest.skip("the recorded answers of kube-apiserver are not here; HARDPOINT_REFERENCE names their folder")
    return [json.loads(line) for line in path.read_text().splitlines()]


def kind_at(url: str) -> kinds.Kind:
    parts = url.split("/")
    group, version = ("", parts[1]) if parts[0] == "api" else (parts[1], parts[2])
    kind = kinds.by_plural(group, version, parts[-1])
    assert kind is not None
    return kind


def test_recorded_bodies_are_refused_in_the_recorded_words(answers: list[dict[str, Any]]) -> None:
    compared, different = 0, []
    for answer in answers:
        kind, (code, _, message, *_) = kind_at(answer["url"]), answer["answer"]
        is_of_other_kind = isinstance(answer["body"].get("kind"), str) and answer["body"]["kind"] != kind.kind
        if is_of_other_kind or "does not match the namespace" in str(message):
            continue
        compared += 1
        if refusal_of(kind, answer["body"]) != (message if code == 400 else None):
            different.append(answer["name"])
    assert compared > 2000
    assert different == []


def refusal_of(kind: kinds.Kind, body: Any) -> str | None:
    try:
        refusals.identify(body)
    except shapes.TypeMismatch as refused:
        return refusals.unrecognized(json.dumps(body).encode(), kind.kind, str(refused))
    try:
        shapes.shape(kind.api_version, kind.kind).decode(body)
    except shapes.TypeMismatch as refused:
        return refusals.cannot_be_handled(kind.api_version, kind.kind, kind.kind, str(refused))
    return None


def test_recorded_warnings_name_the_same_unknown_fields(answers: list[dict[str, Any]]) -> None:
    compared = 0
    for answer in answers:
        if answer["answer"][0] == 400:
            continue
        shape = shape_at(answer["url"])
        complaints = shape.strict_errors(answer["body"])
        warnings = [warning for warning in answer["answer"][-1] if "unknown field" in warning]
        assert ["299 - " + json.dumps(complaint) for complaint in complaints] == warnings
        compared += len(warnings)
    assert compared > 100


def shape_at(url: str) -> Shape:
    kind = kind_at(url)
    return shapes.shape(kind.api_version, kind.kind)


def test_recorded_objects_stay_as_they_are(answers: list[dict[str, Any]]) -> None:
    """What kube-apiserver answered is what its Go types write; the recording leaves out status and addresses."""
    compared = 0
    for answer in answers:
        code, recorded, *_ = answer["answer"]
        if code == 201 and "<ip>" not in json.dumps(recorded):
            decoded = shape_at(answer["url"]).decode(recorded)
            assert decoded.unknown == []
            assert {**decoded.object, "status": None} == {**recorded, "status": None}
            compared += 1
    assert compared > 300
