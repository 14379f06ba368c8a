"""kubectl apply on the server: several managers of one object, the way from client-side apply, diff and prune.

What kubectl prints to each command is compared with kube-apiserver in transcripts/apply.txt; here it is the state of
the cluster that counts.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.interop.kubectl import Kubectl, documents
from tests.interop.samples import config_map, deployment

Json = dict[str, Any]


def managers(kubectl: Kubectl, *what: str) -> dict[str, Json]:
    found = kubectl.json("get", *what, "--show-managed-fields")["metadata"].get("managedFields", [])
    return {f"{entry['manager']} {entry['operation']}": entry["fieldsV1"] for entry in found}


def apply(kubectl: Kubectl, obj: Json, *options: str) -> str:
    return kubectl("apply", "--server-side", "-f", "-", *options, stdin=documents(obj)).out


def test_two_managers_share_an_object(kubectl: Kubectl) -> None:
    assert apply(kubectl, config_map("shared", a="1", b="1")) == "configmap/shared serverside-applied\n"
    apply(kubectl, config_map("shared", b="1", c="1"), "--field-manager=other")
    apply(kubectl, config_map("shared", a="2"))
    assert kubectl.json("get", "configmap", "shared")["data"] == {"a": "2", "b": "1", "c": "1"}
    apply(kubectl, config_map("shared", c="1"), "--field-manager=other")
    assert kubectl.json("get", "configmap", "shared")["data"] == {"a": "2", "c": "1"}


def test_a_conflict_names_who_and_where_and_the_way_out(kubectl: Kubectl) -> None:
    apply(kubectl, config_map("shared", a="1"))
    changed = documents(config_map("shared", a="2"))
    said = kubectl.fails("apply", "--server-side", "--field-manager=other", "-f", "-", stdin=changed)
    assert said.startswith(
        'error: Apply failed with 1 conflict: conflict with "kubectl": .data.a\nPlease review the fields above'
    )
    apply(kubectl, config_map("shared", a="2"), "--field-manager=other", "--force-conflicts")
    assert managers(kubectl, "configmap", "shared") == {"other Apply": {"f:data": {"f:a": {}}}}


def test_client_side_apply_becomes_server_side_apply(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", stdin=documents(config_map("settings", a="1", b="1")))
    assert "kubectl-client-side-apply Update" in managers(kubectl, "configmap", "settings")
    apply(kubectl, config_map("settings", a="2"))
    assert kubectl.json("get", "configmap", "settings")["data"] == {"a": "2"}
    last = json.loads(kubectl("apply", "view-last-applied", "configmap/settings", "-o", "json").out)
    assert last["data"] == {"a": "2"}


def test_and_back(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", stdin=documents(config_map("settings", a="1")))
    apply(kubectl, config_map("settings", a="2", b="1"))
    kubectl("apply", "-f", "-", stdin=documents(config_map("settings", a="3")))
    assert kubectl.json("get", "configmap", "settings")["data"] == {"a": "3"}


def test_what_was_applied_last_can_be_edited(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", stdin=documents(config_map("settings", a="1")))
    kubectl("apply", "edit-last-applied", "configmap/settings", KUBE_EDITOR="sed -i 's/^  a:/  z:/'")
    last = json.loads(kubectl("apply", "view-last-applied", "configmap/settings", "-o", "json").out)
    assert last["data"] == {"z": "1"}


def test_diff_shows_what_apply_would_change_and_changes_nothing(kubectl: Kubectl) -> None:
    apply(kubectl, config_map("settings", a="1"))
    before = kubectl.json("get", "configmap", "settings")
    said = kubectl.attempt("diff", "--server-side", "-f", "-", stdin=documents(config_map("settings", a="2")))
    assert said.status == 1
    assert [line for line in said.lines if line[1:].startswith("  a:")] == ['-  a: "1"', '+  a: "2"']
    assert kubectl.json("get", "configmap", "settings") == before
    assert (
        kubectl.attempt("diff", "--server-side", "-f", "-", stdin=documents(config_map("settings", a="1"))).status == 0
    )


def test_prune_takes_what_is_no_longer_applied(kubectl: Kubectl) -> None:
    labelled = [{**config_map(name), "metadata": {"name": name, "labels": {"set": "x"}}} for name in ("one", "two")]
    kubectl("apply", "-f", "-", stdin=documents(*labelled))
    pruned = ("--prune", "-l", "set=x", "--prune-allowlist=core/v1/ConfigMap")
    kubectl("apply", *pruned, "-f", "-", stdin=documents(labelled[0]))
    assert kubectl("get", "configmaps", "-l", "set=x", "-o", "name").lines == ["configmap/one"]


def test_an_apply_set_takes_what_is_no_longer_in_it(kubectl: Kubectl) -> None:
    """The newer way to prune keeps a list of its members on an object of its own."""
    options = ("--prune", "--applyset=configmaps/members")
    members = [config_map("one"), config_map("two")]
    kubectl("apply", "--server-side", *options, "-f", "-", stdin=documents(*members), KUBECTL_APPLYSET="true")
    kubectl("apply", "--server-side", *options, "-f", "-", stdin=documents(members[0]), KUBECTL_APPLYSET="true")
    names = kubectl("get", "configmaps", "-l", "applyset.kubernetes.io/part-of", "-o", "name").lines
    assert names == ["configmap/one"]


def test_a_list_with_keys_is_merged(kubectl: Kubectl) -> None:
    apply(kubectl, deployment("web"))
    sidecar = {"name": "sidecar", "image": "busybox"}
    addition = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web"},
        "spec": {"template": {"spec": {"containers": [sidecar]}}},
    }
    apply(kubectl, addition, "--field-manager=injector")
    containers = kubectl.json("get", "deployment", "web")["spec"]["template"]["spec"]["containers"]
    assert [container["name"] for container in containers][-1] == "sidecar"
    assert len(containers) == 2
    kubectl("scale", "deployment", "web", "--replicas=4")
    assert managers(kubectl, "deployment", "web")["kubectl Update"] == {"f:spec": {"f:replicas": {}}}


def test_custom_resources_are_merged_by_their_schema(kubectl: Kubectl) -> None:
    group = f"{kubectl.namespace}.example.com"
    fields = {"name": {"type": "string"}, "size": {"type": "integer"}}
    items = {"type": "object", "required": ["name"], "properties": fields}
    rooms = {"type": "array", "items": items, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]}
    spec = {"type": "object", "properties": {"rooms": rooms}}
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"houses.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"plural": "houses", "singular": "house", "kind": "House"},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}},
                }
            ],
        },
    }
    kubectl.create(definition)
    kubectl("wait", "--for=condition=Established", f"crd/houses.{group}")

    def house(*rooms: Json) -> Json:
        return {"apiVersion": f"{group}/v1", "kind": "House", "metadata": {"name": "h"}, "spec": {"rooms": [*rooms]}}

    apply(kubectl, house({"name": "attic", "size": 1}))
    apply(kubectl, house({"name": "cellar", "size": 2}), "--field-manager=other")
    taller = documents(house({"name": "attic", "size": 3}))
    said = kubectl.fails("apply", "--server-side", "--field-manager=other", "-f", "-", stdin=taller)
    assert 'conflict with "kubectl": .spec.rooms[name="attic"].size' in said
    apply(kubectl, house())
    assert kubectl.json("get", "house", "h")["spec"]["rooms"] == [{"name": "cellar", "size": 2}]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"bogus": 1}, ".bogus: field not declared in schema"),
        ({"data": {"a": 1}}, ".data.a: expected string, got &value.valueUnstructured{Value:1}"),
    ],
)
def test_mistakes_are_told(kubectl: Kubectl, change: Json, why: str) -> None:
    wrong = documents({**config_map("settings"), **change})
    assert why in kubectl.fails("apply", "--server-side", "--validate=false", "-f", "-", stdin=wrong)
