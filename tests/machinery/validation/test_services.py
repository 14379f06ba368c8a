"""Services: their ports, types, addresses, and what stays once it was allocated."""

from __future__ import annotations

from typing import Any

import pytest

from tests.machinery.walk import GONE, Json, changed, complaints, replaced

SERVICE: Json = {
    "apiVersion": "v1",
    "kind": "Service",
    "metadata": {"name": "web"},
    "spec": {"selector": {"app": "web"}, "ports": [{"name": "http", "port": 80}]},
}
TWO_PORTS = [{"name": "http", "port": 80}, {"name": "https", "port": 443}]


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        pytest.param("spec.ports", TWO_PORTS, [], id="two named ports"),
        pytest.param("metadata.name", "1st", [], id="digits may come first"),
        pytest.param("spec.ports", [], ["spec.ports: Required value"], id="no ports"),
        pytest.param(
            "spec.ports.0.port",
            0,
            [
                "spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive",
                "spec.ports[0].targetPort: Invalid value: 0: must be between 1 and 65535, inclusive",
            ],
            id="the target follows the port",
        ),
        pytest.param(
            "spec.ports",
            [{"port": 80}, {"name": "b", "port": 81}],
            ["spec.ports[0].name: Required value"],
            id="several ports need names",
        ),
        pytest.param(
            "spec.ports",
            [{"name": "a", "port": 80}, {"name": "b", "port": 80}],
            [
                'spec.ports[1]: Duplicate value: {"Name":"","Protocol":"TCP","AppProtocol":null,"Port":80,'
                '"TargetPort":0,"NodePort":0}'
            ],
            id="the same port twice",
        ),
        pytest.param(
            "spec.ports.0.nodePort",
            30080,
            ["spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'"],
            id="node port without the type",
        ),
        pytest.param(
            "spec.type",
            "Ghost",
            [
                'spec.type: Unsupported value: "Ghost": supported values: "ClusterIP", "ExternalName",'
                ' "LoadBalancer", "NodePort"'
            ],
            id="no such type",
        ),
        pytest.param("spec.type", "ExternalName", ["spec.externalName: Required value"], id="a name is wanted"),
        pytest.param(
            "spec.externalTrafficPolicy",
            "Local",
            ['spec.externalTrafficPolicy: Invalid value: "Local": may only be set for externally-accessible services'],
            id="nothing comes from outside",
        ),
        pytest.param(
            "spec.externalIPs",
            ["127.0.0.1"],
            [
                'spec.externalIPs[0]: Invalid value: "127.0.0.1": may not be in the loopback range'
                " (127.0.0.0/8, ::1/128)"
            ],
            id="loopback is nowhere",
        ),
        pytest.param(
            "spec.loadBalancerClass",
            "example.com/x",
            ["spec.loadBalancerClass: Forbidden: may only be used when `type` is 'LoadBalancer'"],
            id="class without balancer",
        ),
        pytest.param(
            "spec.trafficDistribution",
            "Nearby",
            [
                'spec.trafficDistribution: Unsupported value: "Nearby": supported values: "PreferClose",'
                ' "PreferSameZone", "PreferSameNode"'
            ],
            id="unknown distribution",
        ),
        pytest.param(
            "spec.ipFamilies",
            ["IPv4", "IPv4"],
            ['spec.ipFamilies[1]: Duplicate value: "IPv4"'],
            id="a family twice",
        ),
    ],
)
def test_what_a_new_service_may_say(path: str, value: Any, told: list[str]) -> None:
    assert complaints(changed(SERVICE, path, value)) == told


@pytest.mark.parametrize(
    ("ips", "told"),
    [
        (["10.96.0.7"], []),
        (["None"], []),
        (["10.96.0.7", "fd00::1"], []),
        (["10.96.0.7", "10.96.0.8"], ["may specify no more than one IP for each IP family"]),
        (["None", "fd00::1"], ["'None' must be the first and only value"]),
        (["010.96.0.7"], ["must not have leading 0s"]),
    ],
)
def test_cluster_ips(ips: list[str], told: list[str]) -> None:
    body = changed(changed(SERVICE, "spec.clusterIPs", ips), "spec.clusterIP", ips[0])
    assert [text.rsplit(": ", 1)[1] for text in complaints(body)] == told


def test_an_allocated_ip_stays_when_a_client_forgets_it() -> None:
    old = changed(SERVICE, "spec.clusterIP", "10.96.0.7")
    obj, told = replaced(changed(SERVICE, "spec.selector.app", "other"), old)
    assert told == []
    assert (obj["spec"]["clusterIP"], obj["spec"]["clusterIPs"]) == ("10.96.0.7", ["10.96.0.7"])


def test_an_allocated_ip_does_not_change() -> None:
    old = changed(SERVICE, "spec.clusterIP", "10.96.0.7")
    _, told = replaced(changed(SERVICE, "spec.clusterIP", "10.96.0.8"), old)
    assert told == ['spec.clusterIPs[0]: Invalid value: ["10.96.0.8"]: may not change once set']


def test_becoming_a_name_drops_what_was_allocated() -> None:
    old = changed(changed(SERVICE, "spec.clusterIP", "10.96.0.7"), "spec.type", "NodePort")
    new = changed(changed(old, "spec.type", "ExternalName"), "spec.externalName", "example.com")
    obj, told = replaced(changed(new, "spec.ports", GONE), old)
    assert told == []
    assert obj["spec"].keys().isdisjoint({"clusterIP", "clusterIPs", "externalTrafficPolicy"})


def test_node_ports_are_found_again_by_their_names() -> None:
    old = changed(changed(SERVICE, "spec.type", "NodePort"), "spec.ports.0.nodePort", 30080)
    obj, told = replaced(changed(old, "spec.ports", [{"name": "http", "port": 8080}]), old)
    assert told == []
    assert obj["spec"]["ports"][0]["nodePort"] == 30080


ENDPOINTS: Json = {
    "apiVersion": "v1",
    "kind": "Endpoints",
    "metadata": {"name": "web"},
    "subsets": [{"addresses": [{"ip": "10.1.0.4"}], "ports": [{"port": 80}]}],
}
SLICE: Json = {
    "apiVersion": "discovery.k8s.io/v1",
    "kind": "EndpointSlice",
    "metadata": {"name": "web-1"},
    "addressType": "IPv4",
    "endpoints": [{"addresses": ["10.1.0.4"]}],
    "ports": [{"port": 80}],
}


@pytest.mark.parametrize(
    ("body", "path", "value", "told"),
    [
        (ENDPOINTS, "metadata.name", "web", []),
        (
            ENDPOINTS,
            "subsets.0.addresses",
            [],
            ["subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`"],
        ),
        (
            ENDPOINTS,
            "subsets.0.addresses.0.ip",
            "169.254.0.1",
            [
                'subsets[0].addresses[0].ip: Invalid value: "169.254.0.1": may not be in the link-local range'
                " (169.254.0.0/16, fe80::/10)"
            ],
        ),
        (SLICE, "endpoints.0.addresses", [], ["endpoints[0].addresses: Required value"]),
        (
            SLICE,
            "addressType",
            "IPv6",
            [
                'endpoints[0].addresses: Invalid value: "10.1.0.4": must be an IPv6 address',
            ],
        ),
        (SLICE, "ports", [{"port": 80}, {"port": 81}], ['ports[1].name: Duplicate value: ""']),
        (SLICE, "addressType", GONE, ["addressType: Required value"]),
    ],
)
def test_endpoints_and_slices(body: Json, path: str, value: Any, told: list[str]) -> None:
    assert complaints(changed(body, path, value)) == told


def test_a_slice_keeps_its_address_type() -> None:
    new = changed(changed(SLICE, "addressType", "FQDN"), "endpoints.0.addresses", ["a.example.com"])
    _, told = replaced(new, SLICE)
    assert told == ["addressType: Invalid value: null: field is immutable"]
