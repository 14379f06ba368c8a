"""kubectl's writing commands: create, apply, replace, edit, patch, label, annotate, diff."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.interop.kubectl import Kubectl, documents
from tests.interop.samples import config_map, deployment, node, pod


def test_create_is_refused_the_second_time(kubectl: Kubectl) -> None:
    wanted = documents(config_map("motd", text="hello"))
    assert kubectl("create", "-f", "-", stdin=wanted).out == "configmap/motd created\n"
    said = kubectl.fails("create", "-f", "-", stdin=wanted)
    assert said == 'Error from server (AlreadyExists): error when creating "STDIN": configmaps "motd" already exists'


@pytest.mark.parametrize(
    "arguments",
    [
        "configmap made --from-literal=a=b",
        "secret generic made --from-literal=a=b",
        "secret docker-registry made --docker-username=me --docker-password=secret",
        "serviceaccount made",
        "deployment made --image=nginx --replicas=2 --port=80",
        "job made --image=busybox -- true",
        "cronjob made --image=busybox --schedule=*/5@*@*@*@*",
        "service clusterip made --tcp=80:8080",
        "service nodeport made --tcp=81:8080",
        "service loadbalancer made --tcp=82:8080",
        "service externalname made --external-name=example.com",
        "ingress made --rule=shop.example/*=web:80",
        "quota made --hard=pods=3",
        "role made --verb=get,list --resource=pods",
        "rolebinding made --role=made --user=jane",
        "poddisruptionbudget made --selector=app=web --min-available=1",
    ],
)
def test_create_by_name(kubectl: Kubectl, arguments: str) -> None:
    words = [word.replace("@", " ") for word in arguments.split()]
    assert kubectl("create", *words).out.endswith("/made created\n")


@pytest.mark.parametrize(
    "arguments",
    [
        "clusterrole {} --verb=get --resource=pods",
        "clusterrolebinding {} --clusterrole=view --group=readers",
        "priorityclass {} --value=1000",
        "namespace {}-too",
    ],
)
def test_create_for_the_whole_cluster(kubectl: Kubectl, arguments: str) -> None:
    words = arguments.format(kubectl.namespace).split()
    assert kubectl("create", *words).out.endswith(f"/{words[1]} created\n")
    assert kubectl("get", words[0], words[1], "-o", "name").out.endswith(f"/{words[1]}\n")


def test_apply_three_times(kubectl: Kubectl) -> None:
    def apply(**settings: Any) -> str:
        return kubectl("apply", "-f", "-", stdin=documents(deployment("web", **settings))).out

    assert apply() == "deployment.apps/web created\n"
    assert apply() == "deployment.apps/web unchanged\n"
    assert apply(image="nginx:1.28") == "deployment.apps/web configured\n"
    found = kubectl.json("get", "deployment", "web")
    assert found["spec"]["template"]["spec"]["containers"][0]["image"] == "nginx:1.28"
    assert found["metadata"]["generation"] == 2


def test_apply_removes_what_it_once_applied_and_keeps_what_others_wrote(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", stdin=documents(config_map("motd", mine="1", gone="1")))
    kubectl("patch", "configmap", "motd", "-p", '{"data":{"theirs":"1"}}')
    kubectl("apply", "-f", "-", stdin=documents(config_map("motd", mine="2")))
    assert kubectl.json("get", "configmap", "motd")["data"] == {"mine": "2", "theirs": "1"}


def test_apply_prunes(kubectl: Kubectl) -> None:
    both = [config_map(name, labels={"set": "one"}, a="1") for name in ("kept", "gone")]
    prune = ["apply", "--prune", "-l", "set=one", "--prune-allowlist", "core/v1/ConfigMap", "-f", "-"]
    kubectl(*prune, stdin=documents(*both))
    assert "configmap/gone pruned" in kubectl(*prune, stdin=documents(both[0])).out
    assert kubectl("get", "configmap", "-l", "set=one", "-o", "name").lines == ["configmap/kept"]


def test_replace(kubectl: Kubectl) -> None:
    kubectl.create(config_map("motd", a="1", b="1"))
    assert kubectl("replace", "-f", "-", stdin=documents(config_map("motd", a="2"))).out == "configmap/motd replaced\n"
    assert kubectl.json("get", "configmap", "motd")["data"] == {"a": "2"}
    assert "NotFound" in kubectl.fails("replace", "-f", "-", stdin=documents(config_map("other", a="2")))


def test_replace_refuses_what_somebody_else_changed(kubectl: Kubectl) -> None:
    kubectl.create(config_map("motd", a="1"))
    old = kubectl.json("get", "configmap", "motd")
    kubectl("label", "configmap", "motd", "changed=yes")
    said = kubectl.fails("replace", "-f", "-", stdin=json.dumps(old))
    assert said == (
        'Error from server (Conflict): error when replacing "STDIN": Operation cannot be fulfilled on configmaps '
        '"motd": the object has been modified; please apply your changes to the latest version and try again'
    )


def test_replace_by_force(kubectl: Kubectl) -> None:
    kubectl.create(pod("web"))
    before = kubectl.json("get", "pod", "web")["metadata"]["uid"]
    kubectl("replace", "--force", "-f", "-", stdin=documents(pod("web")))
    assert kubectl.json("get", "pod", "web")["metadata"]["uid"] != before


def test_edit(kubectl: Kubectl, tmp_path: Path) -> None:
    kubectl.create(config_map("motd", text="hello"))
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nsed -i s/hello/goodbye/ "$1"\n')
    editor.chmod(0o755)
    assert kubectl("edit", "configmap", "motd", KUBE_EDITOR=str(editor)).out == "configmap/motd edited\n"
    assert kubectl.json("get", "configmap", "motd")["data"] == {"text": "goodbye"}


@pytest.mark.parametrize(
    ("kind", "patch", "expected"),
    [
        ("strategic", {"data": {"a": None, "c": "3"}}, {"b": "2", "c": "3"}),
        ("merge", {"data": {"a": None, "c": "3"}}, {"b": "2", "c": "3"}),
        ("json", [{"op": "move", "from": "/data/a", "path": "/data/c"}], {"b": "2", "c": "1"}),
    ],
)
def test_patches(kubectl: Kubectl, kind: str, patch: Any, expected: dict[str, str]) -> None:
    kubectl.create(config_map("motd", a="1", b="2"))
    command = ["patch", "configmap", "motd", "--type", kind, "-p", json.dumps(patch)]
    assert kubectl(*command).out == "configmap/motd patched\n"
    assert kubectl.json("get", "configmap", "motd")["data"] == expected


def test_strategic_patches_merge_lists_by_key_and_others_replace_them(kubectl: Kubectl) -> None:
    patch = json.dumps({"spec": {"template": {"spec": {"containers": [{"name": "extra", "image": "envoy"}]}}}})
    for kind, names in (("strategic", "extra main"), ("merge", "extra")):
        kubectl.create(deployment(kind))
        kubectl("patch", "deployment", kind, "--type", kind, "-p", patch)
        told = kubectl("get", "deployment", kind, "-o", "jsonpath={.spec.template.spec.containers[*].name}").out
        assert told == names


def test_patch_the_status(kubectl: Kubectl) -> None:
    kubectl.create(pod("web"))
    kubectl("patch", "pod", "web", "--subresource", "status", "-p", '{"status":{"phase":"Running"}}')
    assert kubectl("get", "pod", "web", "-o", "jsonpath={.status.phase}").out == "Running"


def test_a_patch_that_changes_nothing_says_so(kubectl: Kubectl) -> None:
    kubectl.create(config_map("motd", a="1"))
    before = kubectl.json("get", "configmap", "motd")
    assert (
        kubectl("patch", "configmap", "motd", "-p", '{"data":{"a":"1"}}').out == "configmap/motd patched (no change)\n"
    )
    assert kubectl.json("get", "configmap", "motd") == before


@pytest.mark.parametrize(("command", "past"), [("label", "labeled"), ("annotate", "annotated")])
def test_label_and_annotate(kubectl: Kubectl, command: str, past: str) -> None:
    kubectl.create(config_map("motd"))
    assert kubectl(command, "configmap", "motd", "tier=front").out == f"configmap/motd {past}\n"
    assert "--overwrite is false" in kubectl.fails(command, "configmap", "motd", "tier=back")
    kubectl(command, "configmap", "motd", "tier=back", "--overwrite")
    assert f"tier={'back'}" in kubectl(command, "configmap", "motd", "--list").out
    kubectl(command, "configmap", "motd", "tier-")
    assert "tier" not in kubectl(command, "configmap", "motd", "--list").out


def test_diff(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", stdin=documents(config_map("motd", a="1")))
    before = kubectl.json("get", "configmap", "motd")
    assert kubectl("diff", "-f", "-", stdin=documents(config_map("motd", a="1"))).out == ""
    told = kubectl.attempt("diff", "-f", "-", stdin=documents(config_map("motd", a="2")))
    assert told.status == 1
    assert '-  a: "1"\n+  a: "2"' in told.out
    assert kubectl.json("get", "configmap", "motd") == before


def test_dry_runs_write_nothing(kubectl: Kubectl) -> None:
    wanted = documents(config_map("motd", a="1"))
    assert kubectl("create", "--dry-run=server", "-f", "-", stdin=wanted).out == (
        "configmap/motd created (server dry run)\n"
    )
    assert "NotFound" in kubectl.fails("get", "configmap", "motd")


def test_invalid_objects_are_explained(kubectl: Kubectl) -> None:
    wrong = deployment("web", replicas=-1)
    wrong["spec"]["template"]["metadata"]["labels"] = {"app": "other"}
    said = kubectl.fails("create", "--validate=false", "-f", "-", stdin=documents(wrong)).splitlines()
    assert said[0] == 'The Deployment "web" is invalid: '
    assert said[1] == "* spec.replicas: Invalid value: -1: must be greater than or equal to 0"
    assert said[2].startswith('* spec.template.metadata.labels: Invalid value: {"app":"other"}: `selector` does not')


def test_unknown_fields_are_refused_or_warned_of(kubectl: Kubectl) -> None:
    wanted = documents({**config_map("motd"), "dta": {}})
    assert 'unknown field "dta"' in kubectl.fails("create", "--validate=strict", "-f", "-", stdin=wanted)
    warned = kubectl("create", "--validate=warn", "-f", "-", stdin=wanted)
    assert warned.err == 'Warning: unknown field "dta"\n'


def test_nodes_are_tainted_and_cordoned(kubectl: Kubectl) -> None:
    name = kubectl.namespace
    kubectl.create(node(name))
    kubectl("taint", "node", name, "dedicated=gpu:NoSchedule")
    kubectl("cordon", name)
    taints = {taint["key"]: taint["effect"] for taint in kubectl.json("get", "node", name)["spec"]["taints"]}
    assert taints["dedicated"] == "NoSchedule"
    assert kubectl("get", "node", name).rows[0][1] == "Unknown,SchedulingDisabled"
    kubectl("taint", "node", name, "dedicated-")
    kubectl("uncordon", name)
    assert kubectl("get", "node", name).rows[0][1] == "Unknown"
    assert "dedicated" not in kubectl("get", "node", name, "-o", "jsonpath={.spec.taints}").out
