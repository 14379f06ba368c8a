"""Claims, classes, taint rules and slices of dynamic resource allocation."""

from __future__ import annotations

from typing import Any

import pytest

from tests.machinery.walk import GONE, Json, changed, complaints, replaced


def resource(kind: str, **spec: Any) -> Json:
    return {"apiVersion": "resource.k8s.io/v1", "kind": kind, "metadata": {"name": "x"}, "spec": spec}


CLAIM = resource("ResourceClaim", devices={"requests": [{"name": "gpu", "exactly": {"deviceClassName": "g"}}]})
CLASS = resource("DeviceClass", selectors=[{"cel": {"expression": "true"}}])
TAINT = resource("DeviceTaintRule", taint={"key": "k", "effect": "NoSchedule"})
SLICE = resource(
    "ResourceSlice",
    driver="d.example.com",
    pool={"name": "n1", "resourceSliceCount": 1},
    nodeName="n1",
    devices=[{"name": "gpu-0", "attributes": {"model": {"string": "a"}}, "capacity": {"memory": {"value": "8Gi"}}}],
)


@pytest.mark.parametrize("body", [CLAIM, CLASS, TAINT, SLICE])
def test_a_plain_one_is_fine(body: Json) -> None:
    assert complaints(body) == []


@pytest.mark.parametrize(
    ("body", "path", "value", "told"),
    [
        (
            CLAIM,
            "devices.requests.0.exactly",
            GONE,
            ["devices.requests[0]: Required value: exactly one of `exactly` or `firstAvailable` is required"],
        ),
        (
            CLAIM,
            "devices.requests.0.exactly.count",
            -1,
            ["devices.requests[0].exactly.count: Invalid value: -1: must be greater than zero"],
        ),
        (
            CLAIM,
            "devices.requests.0.exactly.allocationMode",
            "Some",
            [
                'devices.requests[0].exactly.allocationMode: Unsupported value: "Some": supported values: "All",'
                ' "ExactCount"'
            ],
        ),
        (
            CLAIM,
            "devices.constraints",
            [{"requests": ["ghost"], "matchAttribute": "d.example.com/model"}],
            [
                'devices.constraints[0].requests[0]: Invalid value: "ghost": must be the name of a request in'
                " the claim or"
                " the name of a request and a subrequest separated by '/'"
            ],
        ),
        (
            CLAIM,
            "devices.config",
            [{"opaque": {"driver": "d.example.com", "parameters": []}}],
            ['devices.config[0].opaque.parameters: Invalid value: "<value omitted>": must be a valid JSON object'],
        ),
        (CLASS, "selectors", [{}], ["selectors[0].cel: Required value"]),
        (
            CLASS,
            "extendedResourceName",
            "cpu",
            ['extendedResourceName: Invalid value: "cpu": must be a valid extended resource name'],
        ),
        (
            TAINT,
            "taint.effect",
            "Never",
            ['taint.effect: Unsupported value: "Never": supported values: "NoExecute", "NoSchedule", "None"'],
        ),
        (
            SLICE,
            "allNodes",
            True,
            [
                ': Invalid value: "{`nodeName`, `allNodes`}": exactly one of `nodeName`, `nodeSelector`, `allNodes`,'
                " `perDeviceNodeSelection` is required, but multiple fields are set"
            ],
        ),
        (SLICE, "devices", SLICE["spec"]["devices"] * 2, ['devices[1]: Duplicate value: "gpu-0"']),
        (
            SLICE,
            "devices.0.attributes.model",
            {"string": "a", "int": 1},
            [
                'devices[0].attributes[model]: Invalid value: {"int":1,"string":"a"}: exactly one value must be'
                " specified"
            ],
        ),
        (
            SLICE,
            "devices.0.attributes.model",
            {"version": "1"},
            [
                'devices[0].attributes[model].version: Invalid value: "1": must be a string compatible with semver.org'
                " spec 2.0.0"
            ],
        ),
        (
            SLICE,
            "devices.0.allNodes",
            True,
            [
                "devices[0]: Invalid value: null: `nodeName`, `nodeSelector` and `allNodes` can only be set if"
                " `perDeviceNodeSelection` is set to true in the ResourceSlice spec"
            ],
        ),
    ],
)
def test_specs(body: Json, path: str, value: Any, told: list[str]) -> None:
    expected = [f"spec{text}" if text.startswith(":") else f"spec.{text}" for text in told]
    assert complaints(changed(body, f"spec.{path}", value)) == expected


def test_a_claim_stays_as_it_was_asked() -> None:
    _, told = replaced(changed(CLAIM, "spec.devices.requests.0.name", "tpu"), CLAIM)
    assert [text.rpartition(": ")[2] for text in told] == ["field is immutable"]


def test_a_slice_stays_with_its_driver() -> None:
    _, told = replaced(changed(SLICE, "spec.driver", "e.example.com"), SLICE)
    assert told == ['spec.driver: Invalid value: "e.example.com": field is immutable']
