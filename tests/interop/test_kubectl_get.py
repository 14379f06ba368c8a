"""`kubectl get` and `kubectl describe`: every form of output, selectors, pages and raw paths."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
import yaml

from hardpoint.client.client import Client
from tests.interop.kubectl import Kubectl
from tests.interop.samples import config_map, deployment, node, pod, service


@pytest.fixture
def shop(kubectl: Kubectl) -> Kubectl:
    """A namespace with a little of everything."""
    kubectl.create(
        config_map("blue", labels={"colour": "blue"}, a="1"),
        config_map("green", labels={"colour": "green"}, a="1", b="2"),
        pod("web-0", app="web", tier="front"),
        pod("db-0", app="db"),
        service("web"),
        deployment("web", replicas=3),
    )
    return kubectl


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        pytest.param("name", "pod/db-0\npod/web-0\n", id="name"),
        pytest.param("jsonpath={.items[*].metadata.name}", "db-0 web-0", id="jsonpath"),
        pytest.param('go-template={{range .items}}{{.kind}}{{"\\n"}}{{end}}', "Pod\nPod\n", id="go-template"),
        pytest.param(
            "custom-columns=N:.metadata.name,I:.spec.containers[*].image",
            "N       I\ndb-0    busybox:1.37\nweb-0   busybox:1.37\n",
            id="custom-columns",
        ),
    ],
)
def test_forms_of_output(shop: Kubectl, output: str, expected: str) -> None:
    assert shop("get", "pods", "-o", output).out == expected


def test_yaml_and_json_say_the_same(shop: Kubectl) -> None:
    told = shop("get", "deployment", "web", "-o", "yaml").out
    assert yaml.safe_load(told) == shop.json("get", "deployment", "web")


def test_tables(shop: Kubectl) -> None:
    plain = shop("get", "pods")
    assert plain.lines[0].split() == ["NAME", "READY", "STATUS", "RESTARTS", "AGE"]
    assert [row[:4] for row in plain.rows] == [["db-0", "0/1", "Pending", "0"], ["web-0", "0/1", "Pending", "0"]]
    wide = shop("get", "pods", "-o", "wide")
    assert wide.lines[0].split()[5:] == ["IP", "NODE", "NOMINATED", "NODE", "READINESS", "GATES"]
    assert shop("get", "pods", "--no-headers").lines[0].startswith("db-0")


def test_several_kinds_at_once(shop: Kubectl) -> None:
    told = shop("get", "all").out
    for line in ("pod/web-0 ", "service/web ", "deployment.apps/web "):
        assert line in told
    assert shop("get", "cm/blue", "svc/web", "-o", "name").lines == ["configmap/blue", "service/web"]


def test_labels_as_columns(shop: Kubectl) -> None:
    told = shop("get", "pods", "-L", "tier", "--show-labels")
    assert told.lines[0].split()[-2:] == ["TIER", "LABELS"]
    assert [row[-1] for row in told.rows] == ["app=db", "app=web,tier=front"]


@pytest.mark.parametrize(
    ("selector", "names"),
    [
        ("-l=app=web", ["web-0"]),
        ("-l=app in (web, db),!tier", ["db-0"]),
        ("-l=app!=db", ["web-0"]),
        ("-l=tier", ["web-0"]),
        ("--field-selector=metadata.name=db-0", ["db-0"]),
        ("--field-selector=status.phase=Pending,spec.nodeName=", ["db-0", "web-0"]),
        ("--field-selector=status.phase!=Pending", []),
    ],
)
def test_selectors(shop: Kubectl, selector: str, names: list[str]) -> None:
    assert shop("get", "pods", selector, "-o", "name").lines == [f"pod/{name}" for name in names]


def test_sorting(shop: Kubectl) -> None:
    told = shop("get", "configmaps", "-l", "colour", "--sort-by", ".metadata.labels.colour", "-o", "name").lines
    assert told == ["configmap/blue", "configmap/green"]


@pytest.mark.parametrize("size", ["0", "1", "2", "500"])
def test_pages_add_up_to_the_list(shop: Kubectl, size: str) -> None:
    told = shop("get", "configmaps,pods", "-A", "--chunk-size", size, "-o", "name").lines
    assert {"configmap/blue", "configmap/green", "pod/db-0", "pod/web-0"} <= set(told)
    assert len(shop("get", "pods", "--chunk-size", size).rows) == 2


async def test_long_lists_arrive_whole(kubectl: Kubectl) -> None:
    names = [f"c{number:04}" for number in range(1100)]
    async with Client.from_kubeconfig(kubectl.kubeconfig, namespace=kubectl.namespace) as client:
        await asyncio.gather(*(client.create(config_map(name, labels={"long": "list"})) for name in names))
    told = kubectl("get", "configmaps", "-l", "long=list", "--no-headers")
    assert [line.split()[0] for line in told.lines] == names
    assert len(kubectl("delete", "configmaps", "-l", "long=list", "--wait=false").lines) == len(names)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("get pod nobody", 'Error from server (NotFound): pods "nobody" not found'),
        ("get deploy nobody", 'Error from server (NotFound): deployments.apps "nobody" not found'),
        ("get nothing", 'error: the server doesn\'t have a resource type "nothing"'),
        (
            "get pods --field-selector colour=blue",
            'Error from server (BadRequest): Unable to find "/v1, Resource=pods" that match label selector "", '
            'field selector "colour=blue": field label not supported: colour',
        ),
        ("get --raw /nowhere", "Error from server (NotFound): the server could not find the requested resource"),
    ],
)
def test_what_is_not_there(kubectl: Kubectl, arguments: str, message: str) -> None:
    assert kubectl.fails(*arguments.split()) == message


def test_missing_can_be_fine(kubectl: Kubectl) -> None:
    assert kubectl("get", "pod", "nobody", "--ignore-not-found").out == ""
    assert kubectl("get", "pods").err.startswith("No resources found in ")


def test_raw_paths(shop: Kubectl) -> None:
    assert shop("get", "--raw", "/readyz").out == "ok"
    listed = json.loads(shop("get", "--raw", f"/api/v1/namespaces/{shop.namespace}/pods?limit=1").out)
    assert (listed["kind"], len(listed["items"])) == ("PodList", 1)
    assert "apiserver_request_total" in shop("get", "--raw", "/metrics").out


def test_subresources(shop: Kubectl) -> None:
    assert shop.json("get", "deployment", "web", "--subresource", "scale")["kind"] == "Scale"
    assert shop.json("get", "deployment", "web", "--subresource", "status")["kind"] == "Deployment"


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("pod web-0", ["Status:           Pending", "QoS Class:                   BestEffort"]),
        ("deployment web", ["3 desired | 0 updated", "25% max unavailable, 25% max surge"]),
        ("service web", ["IP Family Policy:         SingleStack", "TargetPort:               8080/TCP"]),
        ("configmap green", ["a:", "b:", "BinaryData"]),
    ],
)
def test_describe(shop: Kubectl, what: str, said: list[str]) -> None:
    told = shop("describe", *what.split()).out
    for part in said:
        assert part in told


def test_describe_a_node(kubectl: Kubectl) -> None:
    kubectl.create(node(kubectl.namespace))
    told = kubectl("describe", "node", kubectl.namespace).out
    assert "node.kubernetes.io/not-ready:NoSchedule" in told
    assert "Non-terminated Pods:          (0 in total)" in told


def test_events_of_an_object_are_found(shop: Kubectl) -> None:
    about = shop.json("get", "pod", "web-0")["metadata"]
    shop.create(
        {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": "web-0.1"},
            "involvedObject": {"apiVersion": "v1", "kind": "Pod", "uid": about["uid"]}
            | {"name": "web-0", "namespace": shop.namespace},
            "reason": "Pulled",
            "message": "the image is here",
            "type": "Normal",
            "firstTimestamp": "2026-11-01T00:00:00Z",
            "lastTimestamp": "2026-11-01T00:00:00Z",
        }
    )
    assert "the image is here" in shop("describe", "pod", "web-0").out
    assert "the image is here" in shop("events", "--for", "pod/web-0").out
    assert shop("get", "events", "--field-selector", "reason=Pulled").rows[0][1:4] == ["Normal", "Pulled", "pod/web-0"]
    assert shop("get", "events", "--field-selector", "reason=Pushed").out == ""


def test_saved_output_can_be_fed_back(shop: Kubectl, tmp_path: Path) -> None:
    saved = tmp_path / "all.yaml"
    saved.write_text(shop("get", "configmap,service,deployment", "-o", "yaml").out)
    assert "replaced" in shop("replace", "-f", str(saved)).out
