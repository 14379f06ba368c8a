"""Ingresses, network policies, addresses and their ranges."""

from __future__ import annotations

from typing import Any

import pytest

from tests.machinery.walk import GONE, Json, changed, complaints, replaced


def networking(kind: str, spec: Json, name: str = "x") -> Json:
    return {"apiVersion": "networking.k8s.io/v1", "kind": kind, "metadata": {"name": name}, "spec": spec}


BACKEND = {"service": {"name": "web", "port": {"number": 80}}}
INGRESS = networking(
    "Ingress",
    {
        "rules": [
            {"host": "a.example.com", "http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": BACKEND}]}}
        ]
    },
)
POLICY = networking(
    "NetworkPolicy",
    {"podSelector": {}, "ingress": [{"from": [{"ipBlock": {"cidr": "10.0.0.0/8"}}], "ports": [{"port": 80}]}]},
)
CLASS = networking("IngressClass", {"controller": "example.com/c"})
ADDRESS = networking("IPAddress", {"parentRef": {"resource": "services", "name": "s"}}, name="10.96.0.1")
RANGE = networking("ServiceCIDR", {"cidrs": ["10.96.0.0/16"]})

PATH = "rules.0.http.paths.0"
TOLD_PATH = "rules[0].http.paths[0]"


@pytest.mark.parametrize("body", [INGRESS, POLICY, CLASS, ADDRESS, RANGE])
def test_a_plain_one_is_fine(body: Json) -> None:
    assert complaints(body) == []


@pytest.mark.parametrize(
    ("body", "path", "value", "told"),
    [
        (INGRESS, "rules.0.host", "*.example.com", []),
        (
            INGRESS,
            "rules.0.host",
            "10.0.0.1",
            ['rules[0].host: Invalid value: "10.0.0.1": must be a DNS name, not an IP address'],
        ),
        (
            INGRESS,
            f"{PATH}.path",
            "/a//b/..",
            [
                f"{TOLD_PATH}.path: Invalid value: \"/a//b/..\": must not contain '//'",
                f"{TOLD_PATH}.path: Invalid value: \"/a//b/..\": cannot end with '/..'",
            ],
        ),
        (
            INGRESS,
            f"{PATH}.pathType",
            "Regex",
            [
                f'{TOLD_PATH}.pathType: Unsupported value: "Regex": supported values: "Exact",'
                ' "ImplementationSpecific", "Prefix"'
            ],
        ),
        (
            INGRESS,
            f"{PATH}.backend.service.port.name",
            "http",
            [f'{TOLD_PATH}.backend: Invalid value: "": cannot set both port name & port number'],
        ),
        (
            INGRESS,
            f"{PATH}.backend",
            {"resource": {"kind": "K"}},
            [f"{TOLD_PATH}.backend.resource.name: Required value"],
        ),
        (
            POLICY,
            "ingress.0.from.0.ipBlock.except",
            ["10.0.0.0/8"],
            ['ingress[0].from[0].ipBlock.except[0]: Invalid value: "10.0.0.0/8": must be a strict subset of `cidr`'],
        ),
        (
            POLICY,
            "ingress.0.from.0.podSelector",
            {},
            ["ingress[0].from[0]: Forbidden: may not specify both ipBlock and another peer"],
        ),
        (
            POLICY,
            "ingress.0.ports.0.endPort",
            79,
            ["ingress[0].ports[0].endPort: Invalid value: 79: must be greater than or equal to `port`"],
        ),
        (
            POLICY,
            "ingress.0.from.0.ipBlock.cidr",
            "10.0.0.1/8",
            [
                'ingress[0].from[0].ipBlock.cidr: Invalid value: "10.0.0.1/8": must not have bits set beyond the prefix'
                " length"
            ],
        ),
        (
            CLASS,
            "controller",
            "c",
            ['controller: Invalid value: "c": must be a domain-prefixed path (such as "acme.io/foo")'],
        ),
        (
            CLASS,
            "parameters",
            {"kind": "K", "name": "n", "scope": "Namespace"},
            ["parameters.namespace: Required value: `parameters.scope` is set to 'Namespace'"],
        ),
        (ADDRESS, "parentRef", GONE, ["parentRef: Required value"]),
        (RANGE, "cidrs", [], ["cidrs: Required value: at least one CIDR required"]),
        (
            RANGE,
            "cidrs",
            ["10.0.0.0/8", "11.0.0.0/8"],
            [
                'cidrs: Invalid value: ["10.0.0.0/8","11.0.0.0/8"]: may specify no more than one IP for each IP family,'
                " i.e 192.168.0.0/24 and 2001:db8::/64"
            ],
        ),
    ],
)
def test_specs(body: Json, path: str, value: Any, told: list[str]) -> None:
    assert complaints(changed(body, f"spec.{path}", value)) == [f"spec.{text}" for text in told]


def test_an_address_is_named_after_itself() -> None:
    assert [text.partition(": ")[0] for text in complaints(changed(ADDRESS, "metadata.name", "web"))] == [
        "metadata.name"
    ]


@pytest.mark.parametrize(
    ("body", "path", "value", "told"),
    [
        (CLASS, "controller", "example.com/d", ['controller: Invalid value: "example.com/d": field is immutable']),
        (RANGE, "cidrs", ["10.96.0.0/16", "fd00::/64"], []),
        (RANGE, "cidrs", ["10.97.0.0/16"], ['cidrs[0]: Invalid value: "10.97.0.0/16": field is immutable']),
        (ADDRESS, "parentRef.name", "t", ["parentRef: Invalid value: null: field is immutable"]),
    ],
)
def test_what_may_change(body: Json, path: str, value: Any, told: list[str]) -> None:
    assert replaced(changed(body, f"spec.{path}", value), body)[1] == [f"spec.{text}" for text in told]
