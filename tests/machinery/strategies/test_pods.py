"""What the server makes of pods before it looks at them, and what it warns about."""

from __future__ import annotations

from typing import Any

import pytest

from hardpoint.machinery import defaults, kinds, strategies

Json = dict[str, Any]

POD = next(kind for kind in kinds.builtin() if kind.kind == "Pod")
ONE = {"cpu": "1", "memory": "1Gi"}


def prepared(metadata: Json | None = None, **spec: Any) -> Json:
    obj: Json = {
        "metadata": {"name": "p", "creationTimestamp": "2026-01-01T00:00:00Z", **(metadata or {})},
        "spec": {"containers": [{"name": "c", "image": "a:1"}], **spec},
    }
    defaults.apply(POD, obj)
    strategies.prepare_create(POD, obj)
    return obj


def warned(metadata: Json | None = None, **spec: Any) -> list[str]:
    return strategies.warn_create(POD, prepared(metadata, **spec))


@pytest.mark.parametrize(
    ("containers", "quality"),
    [
        ([{}], "BestEffort"),
        ([{"resources": {"requests": {"cpu": "1"}}}], "Burstable"),
        ([{"resources": {"limits": ONE}}], "Guaranteed"),
        ([{"resources": {"limits": ONE, "requests": {"cpu": "500m"}}}], "Burstable"),
        ([{"resources": {"limits": ONE}}, {}], "Burstable"),
        ([{"resources": {"limits": {"cpu": "1"}}}], "Burstable"),
        ([{"resources": {"requests": {"example.com/gpu": "1"}, "limits": {"example.com/gpu": "1"}}}], "BestEffort"),
        ([{"resources": {"limits": {"cpu": "1000m", "memory": "1024Mi"}, "requests": ONE}}], "Guaranteed"),
    ],
)
def test_quality_of_service(containers: list[Json], quality: str) -> None:
    pod = prepared(containers=[{"name": f"c{number}", **each} for number, each in enumerate(containers)])
    assert pod["status"] == {"phase": "Pending", "qosClass": quality}


def test_a_gated_pod_says_why_it_waits() -> None:
    status = prepared(schedulingGates=[{"name": "g"}])["status"]
    (condition,) = status["conditions"]
    assert (condition["type"], condition["status"], condition["reason"]) == ("PodScheduled", "False", "SchedulingGated")
    assert condition["lastTransitionTime"] == "2026-01-01T00:00:00Z"


def test_a_pod_that_asks_as_a_whole_asks_for_the_rest_too() -> None:
    containers = [
        {"name": name, "resources": {"requests": {"memory": "1Gi"}, "limits": {"memory": "2Gi"}}} for name in "ab"
    ]
    wanted = prepared(containers=containers, resources={"limits": {"cpu": "2"}})["spec"]["resources"]
    assert wanted == {
        "requests": {"cpu": "2", "memory": "2Gi"},
        "limits": {"cpu": "2", "memory": "4Gi"},
    }


def test_an_init_container_may_need_more_than_all_others() -> None:
    pod = prepared(
        containers=[{"name": "c", "resources": {"requests": {"cpu": "1"}}}],
        initContainers=[
            {"name": "side", "restartPolicy": "Always", "resources": {"requests": {"cpu": "1"}}},
            {"name": "big", "resources": {"requests": {"cpu": "5"}}},
        ],
        resources={"requests": {"memory": "1Gi"}},
    )
    assert pod["spec"]["resources"]["requests"] == {"memory": "1Gi", "cpu": "6"}


def test_keys_to_match_become_expressions() -> None:
    constraint = {"topologyKey": "zone", "labelSelector": {"matchLabels": {"a": "b"}}, "matchLabelKeys": ["v", "gone"]}
    term = {"topologyKey": "zone", "labelSelector": {}, "mismatchLabelKeys": ["v"]}
    pod = prepared(
        {"labels": {"v": "1"}},
        topologySpreadConstraints=[constraint],
        affinity={"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}},
    )
    assert pod["spec"]["topologySpreadConstraints"][0]["labelSelector"]["matchExpressions"] == [
        {"key": "v", "operator": "In", "values": ["1"]}
    ]
    anti = pod["spec"]["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][0]
    assert anti["labelSelector"] == {"matchExpressions": [{"key": "v", "operator": "NotIn", "values": ["1"]}]}


@pytest.mark.parametrize(
    ("annotation", "profile"),
    [
        ("runtime/default", {"type": "RuntimeDefault"}),
        ("unconfined", {"type": "Unconfined"}),
        ("localhost/x", {"type": "Localhost", "localhostProfile": "x"}),
        ("localhost/", None),
        ("nonsense", None),
    ],
)
def test_an_old_profile_becomes_a_field(annotation: str, profile: Json | None) -> None:
    key = "container.apparmor.security.beta.kubernetes.io/c"
    pod = prepared({"annotations": {key: annotation}})
    assert pod["spec"]["containers"][0].get("securityContext", {}).get("appArmorProfile") == profile
    deprecated = f'metadata.annotations[{key}]: deprecated since v1.30; use the "appArmorProfile" field instead'
    assert strategies.warn_create(POD, pod) == [deprecated]


def test_fields_without_a_feature_are_dropped() -> None:
    container = {
        "name": "c",
        "livenessProbe": {"httpGet": {"port": 1, "protocol": "HTTP2"}},
        "lifecycle": {"stopSignal": "SIGTERM"},
        "volumeMounts": [{"name": "v", "mountPath": "/v", "bindMountOptions": ["noexec"]}],
    }
    spec = prepared(
        containers=[container],
        volumes=[{"name": "v", "emptyDir": {"mode": 1}}, {"name": "s", "secret": {"items": [{"user": 1}]}}],
        schedulingGroup={"podGroupName": "x"},
    )["spec"]
    assert "protocol" not in spec["containers"][0]["livenessProbe"]["httpGet"]
    assert "lifecycle" not in spec["containers"][0]
    assert spec["containers"][0]["volumeMounts"] == [{"name": "v", "mountPath": "/v"}]
    assert spec["volumes"][0]["emptyDir"] == {}
    assert spec["volumes"][1]["secret"]["items"] == [{}]
    assert "schedulingGroup" not in spec


def test_an_update_keeps_what_the_pod_asks_for_as_a_whole() -> None:
    old = prepared(resources={"limits": {"cpu": "1"}})
    new: Json = {"metadata": dict(old["metadata"]), "spec": {**old["spec"]}}
    del new["spec"]["resources"]
    strategies.prepare_update(POD, new, old)
    assert new["spec"]["resources"] == old["spec"]["resources"]


@pytest.mark.parametrize(
    ("spec", "warnings"),
    [
        ({}, []),
        (
            {"nodeSelector": {"beta.kubernetes.io/os": "linux"}},
            ['spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead'],
        ),
        (
            {"topologySpreadConstraints": [{"topologyKey": "zone"}]},
            ["spec.topologySpreadConstraints[0].labelSelector: a null labelSelector results in matching no pod"],
        ),
        (
            {"volumes": [{"name": "g", "gitRepo": {"repository": "x"}}]},
            ["spec.volumes[0].gitRepo: deprecated in v1.11, and disabled by default in v1.33+"],
        ),
        (
            {"volumes": [{"name": "p", "projected": {"sources": [{}]}}]},
            ['volume "p" (Projected) has no sources provided'],
        ),
        (
            {"volumes": [{"name": "c", "configMap": {"name": "m", "items": [{"path": "a"}, {"path": "a/b"}]}}]},
            ['volume "c" (ConfigMap "m"): overlapping paths: "a/b" with "a"'],
        ),
        (
            {
                "volumes": [
                    {
                        "name": "p",
                        "projected": {
                            "sources": [
                                {"serviceAccountToken": {"path": "t/"}},
                                {"secret": {"name": "s", "items": [{"path": "t"}]}},
                            ]
                        },
                    }
                ]
            },
            ['volume "p" (Projected): overlapping paths: "t" (Secret "s") with "t" (ServiceAccountToken)'],
        ),
        ({"hostAliases": [{"ip": "1.2.3.4"}] * 2}, ['spec.hostAliases[1].ip: duplicate ip "1.2.3.4"']),
        ({"imagePullSecrets": [{}]}, ['spec.imagePullSecrets[0].name: invalid empty name ""']),
        (
            {"containers": [{"name": "c", "env": [{"name": "A"}, {"name": "A", "value": "x$(A)"}, {"name": "A"}]}]},
            ['spec.containers[0].env[2]: hides previous definition of "A", which may be dropped when using apply'],
        ),
        (
            {"containers": [{"name": "c", "resources": {"requests": {"memory": "1500m"}}}]},
            [
                'spec.containers[0].resources.requests[memory]: fractional byte value "1500m" is invalid, must be an'
                " integer"
            ],
        ),
        (
            {"containers": [{"name": "c", "ports": [{"containerPort": 80, "name": "w"}] * 2}]},
            [
                "spec.containers[0].ports[1]: duplicate port definition with spec.containers[0].ports[0]",
                'spec.containers[0].ports[1]: duplicate port name "w" with spec.containers[0].ports[0], services and'
                " probes that select ports by name will use spec.containers[0].ports[0]",
            ],
        ),
        (
            {"containers": [{"name": "c", "ports": [{"containerPort": 80, "hostIP": "1.2.3.4"}]}]},
            [
                "spec.containers[0].ports[0]: hostIP set without hostPort:"
                " {Name: HostPort:0 ContainerPort:80 Protocol:TCP HostIP:1.2.3.4}"
            ],
        ),
    ],
)
def test_what_is_unwise(spec: Json, warnings: list[str]) -> None:
    assert warned(**spec) == warnings


def test_a_name_that_is_no_host_name_is_unwise() -> None:
    assert warned({"name": "a.b"}) == [
        "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is"
        " recommended: [must not contain dots]"
    ]
