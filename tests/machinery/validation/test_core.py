"""Config maps, secrets, namespaces, events, limits, quotas, nodes."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from tests.machinery.walk import GONE, Json, changed, complaints, replaced


def core(kind: str, **fields: Any) -> Json:
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": "x"}, **fields}


def b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


FULL = "a" * (1024 * 1024)
DOCKER = "kubernetes.io/dockerconfigjson"
REDACTED = 'data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": '


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (core("ConfigMap", data={"a": "b"}), []),
        (core("ConfigMap", data={"a": FULL}), []),
        (core("ConfigMap", binaryData={"a": None}), []),
        (core("ConfigMap", data={"a": FULL, "b": "c"}), [": Too long: may not be more than 1048576 bytes"]),
        (
            core("ConfigMap", data={"k": "v"}, binaryData={"k": ""}),
            ['data[k]: Invalid value: "k": duplicate of key present in binaryData'],
        ),
        (core("ConfigMap", data={"..": "v"}), ["data[..]: Invalid value: \"..\": must not be '..'"]),
        (core("Secret", data={"a": b64("x")}), []),
        (core("Secret", data={"a": b64(FULL + "x")}), ["data: Too long: may not be more than 1048576 bytes"]),
        (core("Secret", type="kubernetes.io/tls"), ["data[tls.crt]: Required value", "data[tls.key]: Required value"]),
        (
            core("Secret", type="kubernetes.io/ssh-auth", data={"ssh-privatekey": ""}),
            ["data[ssh-privatekey]: Required value"],
        ),
        (
            core("Secret", type="kubernetes.io/basic-auth"),
            ["data[username]: Required value", "data[password]: Required value"],
        ),
        (
            core("Secret", type="kubernetes.io/service-account-token"),
            ["metadata.annotations[kubernetes.io/service-account.name]: Required value"],
        ),
        (core("Secret", type=DOCKER, data={".dockerconfigjson": b64("{}")}), []),
        (core("Secret", type=DOCKER, data={".dockerconfigjson": ""}), [REDACTED + "unexpected end of JSON input"]),
        (
            core("Secret", type=DOCKER, data={".dockerconfigjson": b64("[]")}),
            [REDACTED + "json: cannot unmarshal array into Go value of type map[string]interface {}"],
        ),
        (
            core("Namespace", spec={"finalizers": ["ghost"]}),
            [
                'spec.finalizers: Invalid value: "ghost": name is neither a standard finalizer name nor is it fully'
                " qualified"
            ],
        ),
    ],
)
def test_small_kinds(body: Json, told: list[str]) -> None:
    assert complaints(body) == told


def test_what_is_immutable_stays() -> None:
    frozen = core("ConfigMap", data={"a": "b"}, immutable=True)
    _, told = replaced(changed(changed(frozen, "data.a", "c"), "immutable", False), frozen)
    text = "Forbidden: field is immutable when `immutable` is set"
    assert told == [f"immutable: {text}", f"data: {text}"]


def test_a_secret_keeps_its_type() -> None:
    _, told = replaced(core("Secret", type="example.com/b"), core("Secret", type="example.com/a"))
    assert told == ['type: Invalid value: "example.com/b": field is immutable']


EVENT = core("Event", involvedObject={"kind": "Pod", "name": "p", "namespace": "default"})
TIMED: Json = {
    "apiVersion": "events.k8s.io/v1",
    "kind": "Event",
    "metadata": {"name": "x"},
    "eventTime": "2026-01-01T00:00:00.000000Z",
    "regarding": {"kind": "Pod", "name": "p", "namespace": "default"},
    "reason": "Pulled",
    "action": "Pull",
    "type": "Normal",
    "reportingController": "example.com/kubelet",
    "reportingInstance": "n1",
}


@pytest.mark.parametrize(
    ("body", "path", "value", "told"),
    [
        (EVENT, "reason", "", []),
        (
            EVENT,
            "involvedObject.namespace",
            "other",
            ['involvedObject.namespace: Invalid value: "other": does not match event.namespace'],
        ),
        (TIMED, "note", "n", []),
        (TIMED, "action", GONE, ["action: Required value"]),
        (TIMED, "reason", "r" * 129, ['reason: Invalid value: "": can have at most 128 characters']),
        (TIMED, "type", "Odd", ['type: Invalid value: "": has invalid value: Odd']),
        (
            TIMED,
            "series",
            {"count": 1, "lastObservedTime": "2026-01-01T00:00:00.000000Z"},
            ['series.count: Invalid value: "": should be at least 2'],
        ),
        (TIMED, "deprecatedCount", 2, ['count: Invalid value: "": needs to be unset']),
    ],
)
def test_events(body: Json, path: str, value: Any, told: list[str]) -> None:
    assert complaints(changed(body, path, value)) == told


def test_an_event_of_the_new_api_does_not_change() -> None:
    _, told = replaced(changed(TIMED, "reason", "Failed"), TIMED)
    assert told == ['reason: Invalid value: "Failed": field is immutable']


def limits(**limit: Any) -> Json:
    return core("LimitRange", spec={"limits": [{"type": "Container", **limit}]})


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (limits(max={"cpu": "2"}, min={"cpu": "1"}), []),
        (
            limits(min={"cpu": "2"}, max={"cpu": "1"}),
            [
                'min[cpu]: Invalid value: "2": min value 2 is greater than max value 1',
                'defaultRequest[cpu]: Invalid value: "1": min value 2 is greater than default request value 1',
                'default[cpu]: Invalid value: "2": min value 2 is greater than default value 1',
            ],
        ),
        (
            limits(maxLimitRequestRatio={"cpu": "500m"}),
            ['maxLimitRequestRatio[cpu]: Invalid value: "500m": ratio 500m is less than 1'],
        ),
        (limits(type="Pod", default={"cpu": "1"}), ["default: Forbidden: may not be specified when `type` is 'Pod'"]),
        (
            limits(type="PersistentVolumeClaim"),
            ["limits: Required value: either minimum or maximum storage value is required, but neither was provided"],
        ),
        (limits(type="Ghost"), ['type: Invalid value: "Ghost": must be a standard limit type or fully qualified']),
    ],
)
def test_limit_ranges(body: Json, told: list[str]) -> None:
    assert complaints(body) == [f"spec.limits[0].{text}" for text in told]


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ({"hard": {"pods": "1", "count/boats.sea.example.com": "2"}}, []),
        ({"hard": {"pods": "1500m"}}, ['hard[pods]: Invalid value: "1500m": must be an integer']),
        (
            {"hard": {"cpu": "1"}, "scopes": ["BestEffort"]},
            ['scopes: Invalid value: ["BestEffort"]: unsupported scope applied to resource'],
        ),
        (
            {"scopes": ["Terminating", "NotTerminating"]},
            ['scopes: Invalid value: ["Terminating","NotTerminating"]: conflicting scopes'],
        ),
        (
            {"scopeSelector": {"matchExpressions": [{"scopeName": "PriorityClass", "operator": "In"}]}},
            [
                "scopeSelector.matchExpressions.values: Required value: must be at least one value when"
                " `operator` is 'In'"
                " or 'NotIn' for scope selector"
            ],
        ),
    ],
)
def test_quotas(spec: Json, told: list[str]) -> None:
    assert complaints(core("ResourceQuota", spec=spec)) == [f"spec.{text}" for text in told]


TAINT = {"key": "k", "value": "v", "effect": "NoSchedule"}


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ({"taints": [TAINT], "podCIDRs": ["10.1.0.0/24", "fd00::/64"]}, []),
        (
            {"taints": [TAINT, TAINT]},
            [
                'metadata.taints[1]: Duplicate value: {"Key":"k","Value":"v","Effect":"NoSchedule","TimeAdded":null}:'
                " taints must be unique by key and effect pair"
            ],
        ),
        (
            {"taints": [{"key": "k", "effect": "Never"}]},
            [
                'metadata.taints[0].effect: Unsupported value: "Never": supported values: "NoSchedule",'
                ' "PreferNoSchedule", "NoExecute"'
            ],
        ),
        (
            {"podCIDRs": ["10.1.0.0/24", "10.2.0.0/24"]},
            [
                'spec.podCIDRs: Invalid value: ["10.1.0.0/24","10.2.0.0/24"]: may specify no more than one CIDR'
                " for each"
                " IP family"
            ],
        ),
    ],
)
def test_nodes(spec: Json, told: list[str]) -> None:
    assert complaints(core("Node", spec=spec)) == told


def test_a_node_gets_its_addresses_once() -> None:
    old = core("Node", spec={"podCIDR": "10.1.0.0/24", "providerID": "a://1"})
    _, told = replaced(core("Node", spec={"podCIDR": "10.2.0.0/24", "providerID": "a://2"}), old)
    assert told == [
        'spec.podCIDRs: Forbidden: node updates may not change podCIDR except from "" to valid',
        "spec.providerID: Invalid value: null: field cannot be modified once set",
    ]
    _, told = replaced(old, core("Node", spec={}))
    assert told == []
