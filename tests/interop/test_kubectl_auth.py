"""`kubectl auth` and the commands that make roles: what real users type to find out what they may do."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.interop.kubectl import Kubectl

RBAC = "rbac.authorization.k8s.io"


def test_can_i(kubectl: Kubectl) -> None:
    assert kubectl("auth", "can-i", "create", "pods").out == "yes\n"
    said = kubectl.attempt("auth", "can-i", "create", "pods", "--as", "ann")
    assert (said.status, said.out) == (1, "no\n")
    kubectl("create", "role", "reader", "--verb=get,list", "--resource=pods,pods/log")
    kubectl("create", "rolebinding", "ann-reads", "--role=reader", "--user=ann")
    assert kubectl("auth", "can-i", "get", "pods", "--as", "ann").out == "yes\n"
    assert kubectl("auth", "can-i", "get", "pods", "--subresource=log", "--as", "ann").out == "yes\n"
    assert kubectl.attempt("auth", "can-i", "get", "pods", "--as", "ann", "-A").out == "no\n"
    assert kubectl.attempt("auth", "can-i", "get", "pods", "--subresource=exec", "--as", "ann").out == "no\n"
    assert kubectl("auth", "can-i", "get", "/version", "--as", "ann").out == "yes\n"
    assert kubectl.attempt("auth", "can-i", "get", "/metrics", "--as", "ann").out == "no\n"


def test_why_not(kubectl: Kubectl) -> None:
    kubectl("create", "rolebinding", "to-nothing", "--role=nothing", "--user=ben")
    said = kubectl.attempt("auth", "can-i", "get", "pods", "--as", "ben")
    assert said.out == f'no - rbac: RBAC: role.{RBAC} "nothing" not found\n'
    refused = kubectl.fails("get", "pods", "--as", "ben")
    assert refused.startswith(
        'Error from server (Forbidden): pods is forbidden: User "ben" cannot list resource "pods"'
    )


def test_the_list_of_all_i_can(kubectl: Kubectl) -> None:
    kubectl("create", "role", "carls", "--verb=get,list", "--resource=pods", "--resource-name=a")
    kubectl("create", "rolebinding", "carls", "--role=carls", "--user=carl")
    rows = kubectl("auth", "can-i", "--list", "--as", "carl").lines
    assert rows[0].split() == ["Resources", "Non-Resource", "URLs", "Resource", "Names", "Verbs"]
    told = {" ".join(row.split()) for row in rows[1:]}
    assert told == {
        "selfsubjectreviews.authentication.k8s.io [] [] [create]",
        "selfsubjectaccessreviews.authorization.k8s.io [] [] [create]",
        "selfsubjectrulesreviews.authorization.k8s.io [] [] [create]",
        "pods [] [a] [get list]",
        *(
            f"[{path}] [] [get]"
            for path in (
                "/api",
                "/api/*",
                "/apis",
                "/apis/*",
                "/healthz",
                "/livez",
                "/openapi",
                "/openapi/*",
                "/readyz",
                "/version",
                "/version/",
            )
        ),
    }


def test_who_am_i_as_somebody_else(kubectl: Kubectl) -> None:
    asked = ("auth", "whoami", "--as", "dan", "--as-group", "devs", "--as-group", "ops", "--as-uid", "7")
    user = kubectl.json(*asked)["status"]["userInfo"]
    assert user == {"username": "dan", "uid": "7", "groups": ["devs", "ops", "system:authenticated"]}


def test_who_am_i_with_something_extra(kubectl: Kubectl) -> None:
    if "--as-user-extra" not in kubectl("options").out:
        pytest.skip("this kubectl has no --as-user-extra")
    user = kubectl.json("auth", "whoami", "--as", "dan", "--as-user-extra", "example.com/team=blue")["status"][
        "userInfo"
    ]
    assert user["extra"] == {"example.com/team": ["blue"]}


def test_roles_are_given_by_hand(kubectl: Kubectl) -> None:
    name = f"{kubectl.namespace}-nodes"
    kubectl("create", "clusterrole", name, "--verb=get,list,watch", "--resource=nodes")
    kubectl("create", "clusterrolebinding", name, f"--clusterrole={name}", "--group=ops", f"--serviceaccount={name}:x")
    assert kubectl("auth", "can-i", "list", "nodes", "--as", "fay", "--as-group", "ops").out == "yes\n"
    assert kubectl("auth", "can-i", "list", "nodes", "--as", f"system:serviceaccount:{name}:x").out == "yes\n"
    rows = kubectl("get", "clusterrolebinding", name, "-o", "wide").rows
    assert rows[0][1] == f"ClusterRole/{name}"
    described = kubectl("describe", "clusterrole", name).out
    assert "nodes" in described
    kubectl("delete", "clusterrolebinding", name)
    assert kubectl.attempt("auth", "can-i", "list", "nodes", "--as", "fay", "--as-group", "ops").out == "no\n"


def test_aggregated_roles(kubectl: Kubectl) -> None:
    name = f"{kubectl.namespace}-gathers"
    kubectl("create", "clusterrole", name, f"--aggregation-rule=gather={name}")
    kubectl("create", "clusterrole", f"{name}-1", "--verb=get", "--resource=pods")
    kubectl("label", "clusterrole", f"{name}-1", f"gather={name}")
    kubectl("wait", "clusterrole", name, "--for=jsonpath={.rules[0].resources[0]}=pods", "--timeout=20s")


def test_what_one_does_not_have_cannot_be_given(kubectl: Kubectl) -> None:
    kubectl("create", "role", "maker", "--verb=create,get", f"--resource=roles.{RBAC},rolebindings.{RBAC}")
    kubectl("create", "rolebinding", "maker", "--role=maker", "--user=gil")
    refused = kubectl.fails("create", "role", "greedy", "--verb=get", "--resource=secrets", "--as", "gil")
    assert refused == (
        f'Error from server (Forbidden): roles.{RBAC} "greedy" is forbidden: '
        'user "gil" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n'
        '{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}'
    )
    kubectl("create", "role", "modest", "--verb=get", f"--resource=roles.{RBAC}", "--as", "gil")


def test_reconcile(kubectl: Kubectl, tmp_path: Path) -> None:
    manifest = tmp_path / "roles.json"

    def role(*verbs: str) -> str:
        rules = [{"verbs": list(verbs), "apiGroups": [""], "resources": ["pods"]}]
        metadata = {"name": "kept", "namespace": kubectl.namespace}
        return json.dumps({"apiVersion": f"{RBAC}/v1", "kind": "Role", "metadata": metadata, "rules": rules})

    manifest.write_text(role("get"))
    assert "reconciled" in kubectl("auth", "reconcile", "-f", str(manifest)).out
    manifest.write_text(role("list"))
    kubectl("auth", "reconcile", "-f", str(manifest))
    rules = kubectl.json("get", "role", "kept")["rules"]
    assert {verb for rule in rules for verb in rule["verbs"]} == {"get", "list"}
    kubectl("auth", "reconcile", "-f", str(manifest), "--remove-extra-permissions")
    rules = kubectl.json("get", "role", "kept")["rules"]
    assert {verb for rule in rules for verb in rule["verbs"]} == {"list"}
