"""From a key to a user: kubectl's certificate commands, and the certificate used over TLS."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.interop.kubectl import Kubectl
from tests.signing_requests import pem_request, private_pem, signing_request

Json = dict[str, Any]

CSR = "certificatesigningrequest.certificates.k8s.io"


def _ask(admin: Kubectl, name: str, **spec: Any) -> None:
    admin.create(signing_request(name, pem_request(name, organizations=["dev"]), **spec))


def _condition(admin: Kubectl, name: str) -> str:
    return admin("get", "csr", name).rows[0][-1]


def _wait_until_issued(admin: Kubectl, name: str) -> bytes:
    admin("wait", f"csr/{name}", "--for=jsonpath={.status.certificate}", "--timeout=30s")
    return base64.b64decode(admin.json("get", "csr", name)["status"]["certificate"])


def test_get_shows_how_far_a_request_is(admin: Kubectl) -> None:
    _ask(admin, "shown", expirationSeconds=7200)
    head, row = (line.split() for line in admin("get", "csr", "shown").lines)
    assert head == ["NAME", "AGE", "SIGNERNAME", "REQUESTOR", "REQUESTEDDURATION", "CONDITION"]
    assert row[2:] == ["kubernetes.io/kube-apiserver-client", "hardpoint-admin", "120m", "Pending"]


def test_approve(admin: Kubectl) -> None:
    _ask(admin, "approved")
    assert admin("certificate", "approve", "approved").out == f"{CSR}/approved approved\n"
    _wait_until_issued(admin, "approved")
    assert _condition(admin, "approved") == "Approved,Issued"
    condition = admin.json("get", "csr", "approved")["status"]["conditions"][0]
    assert condition["reason"] == "KubectlApprove"
    assert condition["message"] == "This CSR was approved by kubectl certificate approve."


def test_deny(admin: Kubectl) -> None:
    _ask(admin, "denied")
    assert admin("certificate", "deny", "denied").out == f"{CSR}/denied denied\n"
    assert _condition(admin, "denied") == "Denied"
    told = admin.fails("certificate", "approve", "denied")
    assert told == 'error: certificate signing request "denied" is already Denied'


def test_what_a_signer_refuses_is_shown(admin: Kubectl) -> None:
    _ask(admin, "failed", usages=["server auth"])
    admin("certificate", "approve", "failed")
    admin("wait", "csr/failed", "--for=condition=Failed", "--timeout=30s")
    assert _condition(admin, "failed") == "Approved,Failed"


@pytest.fixture
def ann(admin: Kubectl, tmp_path: Path) -> Kubectl:
    """kubectl with a certificate that was asked for, approved and issued."""
    admin.attempt("delete", "csr", "ann")
    _ask(admin, "ann")
    admin("certificate", "approve", "ann")
    (tmp_path / "ann.crt").write_bytes(_wait_until_issued(admin, "ann"))
    (tmp_path / "ann.key").write_bytes(private_pem())
    config = tmp_path / "kubeconfig"
    config.write_text(admin("config", "view", "--raw", "--minify", "--flatten", "-o", "json").out)
    with_ann = replace(admin, kubeconfig=config, home=tmp_path)
    user = json.loads(config.read_text())["users"][0]["name"]
    files = ("--client-certificate", str(tmp_path / "ann.crt"), "--client-key", str(tmp_path / "ann.key"))
    with_ann("config", "set-credentials", user, *files, "--embed-certs")
    return with_ann


def test_the_certificate_is_an_identity(admin: Kubectl, ann: Kubectl) -> None:
    who = ann.json("auth", "whoami")["status"]["userInfo"]
    assert who["username"] == "ann"
    assert set(who["groups"]) == {"dev", "system:authenticated"}
    assert "uid" not in who


def test_roles_apply_to_it(admin: Kubectl, ann: Kubectl, namespace: str) -> None:
    here = ann.inside(namespace)
    told = here.fails("get", "pods")
    assert told == (
        'Error from server (Forbidden): pods is forbidden: User "ann" cannot list resource "pods" in API group "" in '
        f'the namespace "{namespace}"'
    )
    inside = admin.inside(namespace)
    inside("create", "rolebinding", "ann", "--clusterrole=view", "--group=dev")
    assert here("get", "pods").err == f"No resources found in {namespace} namespace.\n"
    assert "cannot create resource" in here.fails("create", "configmap", "a")
    assert "is forbidden" in here.fails("certificate", "approve", "ann")


def test_nobody_approves_for_a_signer_without_its_word(admin: Kubectl, ann: Kubectl) -> None:
    parts = "certificatesigningrequests,certificatesigningrequests/approval"
    admin("create", "clusterrole", "approver", "--verb=get,update,patch", f"--resource={parts}")
    admin("create", "clusterrolebinding", "approver", "--clusterrole=approver", "--user=ann")
    _ask(admin, "mine")
    told = ann.fails("certificate", "approve", "mine")
    assert 'user not permitted to approve requests with signerName "kubernetes.io/kube-apiserver-client"' in told
    # No server lists signers among its resources, so kubectl does not know them.
    rule = {"apiGroups": ["certificates.k8s.io"], "resources": ["signers"], "verbs": ["approve"]}
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "speaks"}}
    admin.create({**role, "rules": [{**rule, "resourceNames": ["kubernetes.io/*"]}]})
    admin("create", "clusterrolebinding", "speaks", "--clusterrole=speaks", "--user=ann")
    assert ann("certificate", "approve", "mine").out == f"{CSR}/mine approved\n"
