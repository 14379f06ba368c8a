"""What pods and their templates are completed with."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from hardpoint.machinery import defaults, kinds
from hardpoint.machinery.defaults.images import pull_policy

Json = dict[str, Any]

POD = next(kind for kind in kinds.builtin() if kind.kind == "Pod")
TEMPLATE = next(kind for kind in kinds.builtin() if kind.kind == "PodTemplate")


def completed(**spec: Any) -> Json:
    obj: Json = {"metadata": {}, "spec": spec}
    defaults.apply(POD, obj)
    result: Json = obj["spec"]
    return result


def container(**fields: Any) -> Json:
    made: Json = completed(containers=[{"name": "c", "image": "nginx", **fields}])["containers"][0]
    return made


def test_a_pod_that_says_little_says_more_afterwards() -> None:
    assert completed(containers=[{"name": "c", "image": "nginx", "resources": {}}]) == {
        "containers": [
            {
                "name": "c",
                "image": "nginx",
                "imagePullPolicy": "Always",
                "resources": {},
                "terminationMessagePath": "/dev/termination-log",
                "terminationMessagePolicy": "File",
            }
        ],
        "dnsPolicy": "ClusterFirst",
        "enableServiceLinks": True,
        "restartPolicy": "Always",
        "schedulerName": "default-scheduler",
        "securityContext": {},
        "terminationGracePeriodSeconds": 30,
    }


def test_what_was_said_stays() -> None:
    said = {
        "containers": [{"name": "c", "imagePullPolicy": "Never", "terminationMessagePath": "/x"}],
        "dnsPolicy": "Default",
        "restartPolicy": "Never",
        "securityContext": {"runAsUser": 1},
        "terminationGracePeriodSeconds": 0,
        "enableServiceLinks": False,
        "schedulerName": "mine",
    }
    complete = completed(**deepcopy(said))
    assert {field: complete[field] for field in said if field != "containers"} == {
        field: value for field, value in said.items() if field != "containers"
    }
    assert complete["containers"][0]["imagePullPolicy"] == "Never"


def test_completing_twice_is_completing_once() -> None:
    once = completed(
        containers=[{"name": "c", "image": "a:1", "resources": {"limits": {"cpu": "1"}}, "ports": [{"hostPort": 1}]}],
        volumes=[{"name": "v"}, {"name": "s", "secret": {"secretName": "x"}}],
        hostNetwork=True,
    )
    assert completed(**deepcopy(once)) == once


@pytest.mark.parametrize(
    ("image", "policy"),
    [
        ("nginx", "Always"),
        ("nginx:latest", "Always"),
        ("nginx:1.27", "IfNotPresent"),
        ("localhost:5000/a/b", "Always"),
        ("localhost:5000/a/b:v1", "IfNotPresent"),
        (f"nginx@sha256:{'0' * 64}", "IfNotPresent"),
        (f"nginx:latest@sha256:{'0' * 64}", "Always"),
        ("Not An Image", "IfNotPresent"),
        ("0" * 64, "IfNotPresent"),
        ("", "IfNotPresent"),
    ],
)
def test_only_the_tag_latest_is_pulled_again(image: str, policy: str) -> None:
    assert pull_policy(image) == policy


def test_who_limits_a_resource_asks_for_it() -> None:
    limited = {"limits": {"cpu": "2", "memory": "1Gi"}, "requests": {"cpu": "1"}}
    assert container(resources=limited)["resources"]["requests"] == {"cpu": "1", "memory": "1Gi"}


def test_templates_leave_requests_to_their_pods() -> None:
    obj = {"template": {"spec": {"containers": [{"name": "c", "resources": {"limits": {"cpu": "1"}}}]}}}
    defaults.apply(TEMPLATE, obj)
    spec = obj["template"]["spec"]
    assert spec["containers"][0]["resources"] == {"limits": {"cpu": "1"}}
    assert "enableServiceLinks" not in spec


def test_amounts_finer_than_a_thousandth_are_rounded_up() -> None:
    assert container(resources={"requests": {"cpu": "100u", "memory": "1500001n"}})["resources"]["requests"] == {
        "cpu": "1m",
        "memory": "2m",
    }


def test_probes_have_a_rhythm() -> None:
    probe = container(livenessProbe={"httpGet": {"port": 80}}, startupProbe={"grpc": {"port": 1}, "periodSeconds": 3})
    assert probe["livenessProbe"] == {
        "httpGet": {"path": "/", "port": 80, "scheme": "HTTP"},
        "timeoutSeconds": 1,
        "periodSeconds": 10,
        "successThreshold": 1,
        "failureThreshold": 3,
    }
    assert probe["startupProbe"]["periodSeconds"] == 3
    assert probe["startupProbe"]["grpc"] == {"port": 1, "service": ""}


@pytest.mark.parametrize(
    ("volume", "complete"),
    [
        ({}, {"emptyDir": {}}),
        ({"secret": {"secretName": "x"}}, {"secret": {"secretName": "x", "defaultMode": 0o644}}),
        ({"configMap": {"defaultMode": 0o400}}, {"configMap": {"defaultMode": 0o400}}),
        ({"hostPath": {"path": "/"}}, {"hostPath": {"path": "/", "type": ""}}),
        (
            {"projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]}},
            {
                "projected": {
                    "sources": [{"serviceAccountToken": {"path": "t", "expirationSeconds": 3600}}],
                    "defaultMode": 0o644,
                }
            },
        ),
        (
            {"downwardAPI": {"items": [{"fieldRef": {"fieldPath": "metadata.name"}}]}},
            {
                "downwardAPI": {
                    "items": [{"fieldRef": {"fieldPath": "metadata.name", "apiVersion": "v1"}}],
                    "defaultMode": 0o644,
                }
            },
        ),
        (
            {"ephemeral": {"volumeClaimTemplate": {"spec": {}}}},
            {"ephemeral": {"volumeClaimTemplate": {"spec": {"volumeMode": "Filesystem"}}}},
        ),
        ({"image": {"reference": "a:1"}}, {"image": {"reference": "a:1", "pullPolicy": "IfNotPresent"}}),
    ],
)
def test_volumes(volume: Json, complete: Json) -> None:
    assert completed(volumes=[{"name": "v", **volume}])["volumes"] == [{"name": "v", **complete}]


def test_on_the_hosts_network_a_port_is_the_hosts_port() -> None:
    spec = completed(hostNetwork=True, containers=[{"name": "c", "ports": [{"containerPort": 80}]}])
    assert spec["containers"][0]["ports"] == [{"containerPort": 80, "hostPort": 80, "protocol": "TCP"}]


@pytest.mark.parametrize("given", [{"serviceAccount": "a"}, {"serviceAccountName": "a", "serviceAccount": "b"}])
def test_both_names_of_the_account_say_the_same(given: Json) -> None:
    spec = completed(**given)
    assert (spec["serviceAccountName"], spec["serviceAccount"]) == ("a", "a")


@pytest.mark.parametrize(
    ("status", "complete"),
    [
        ({"podIP": "1.2.3.4"}, {"podIP": "1.2.3.4", "podIPs": [{"ip": "1.2.3.4"}]}),
        ({"podIPs": [{"ip": "1.2.3.4"}]}, {"podIP": "1.2.3.4", "podIPs": [{"ip": "1.2.3.4"}]}),
        (
            {"podIP": "1.2.3.4", "podIPs": [{"ip": "5.6.7.8"}]},
            {"podIP": "1.2.3.4", "podIPs": [{"ip": "1.2.3.4"}]},
        ),
    ],
)
def test_addresses_are_told_twice(status: Json, complete: Json) -> None:
    obj: Json = {"spec": {}, "status": status}
    defaults.apply(POD, obj)
    assert obj["status"] == complete
