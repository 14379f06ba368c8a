"""Ways to more power through certificate signing requests, each of which is closed."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from hardpoint.machinery.jsontext import encode
from hardpoint.machinery.messages import User
from hardpoint.machinery.signingrequests import CLIENT, KUBELET_CLIENT, KUBELET_SERVING
from hardpoint.serving.certificates import Wanted
from hardpoint.serving.issuing import issue
from tests.apiserver.asking import Api
from tests.signing_requests import CLIENT_USAGES, COLLECTION, SERVING_USAGES, encoded, pem_request, signing_request

Json = dict[str, Any]

MALLORY = User("mallory", ("system:authenticated",))
NODE = User("system:node:mine", ("system:nodes", "system:authenticated"))
MERGE, STRATEGIC, JSON = (f"application/{kind}-patch+json" for kind in ("merge", "strategic-merge", "json"))
ANCHOR = issue(Wanted("a", "a", "a", "authority"), None, datetime.now(UTC)).certificate_pem.decode()
APPROVED = {"type": "Approved", "status": "True", "reason": "Mallory", "message": "please"}


async def _grant(api: Api, user: User, *rules: Json) -> None:
    roles = "/apis/rbac.authorization.k8s.io/v1"
    role = f"test-{user.name}"
    await api.ok("POST", f"{roles}/clusterroles", {"metadata": {"name": role}, "rules": list(rules)})
    binding = {
        "metadata": {"name": role},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user.name}],
    }
    await api.ok("POST", f"{roles}/clusterrolebindings", binding)


def _rule(resources: list[str], verbs: list[str], *names: str) -> Json:
    rule: Json = {"apiGroups": ["certificates.k8s.io"], "resources": resources, "verbs": verbs}
    return {**rule, "resourceNames": list(names)} if names else rule


ALL_PARTS = ["certificatesigningrequests", "certificatesigningrequests/approval", "certificatesigningrequests/status"]


@pytest.fixture
async def mallory(api: Api) -> Api:
    """Somebody who may do everything with requests, and nothing for any signer."""
    await _grant(api, MALLORY, _rule(ALL_PARTS, ["*"]))
    return api.as_user(MALLORY)


@pytest.mark.parametrize(
    "organizations", [["system:masters"], ["dev", "system:masters"], ["system:masters", "system:masters"]]
)
async def test_nobody_becomes_a_master(api: Api, mallory: Api, organizations: list[str]) -> None:
    """Not even asked for by a master."""
    asked = signing_request("a", pem_request("mallory", organizations=organizations))
    for asker in (mallory, api):
        status, answer = await asker.ask("POST", COLLECTION, asked)
        assert status == 403
        assert answer["message"].endswith(f"use of {CLIENT} signer with system:masters group is not allowed")


async def test_who_asks_is_what_the_server_says(mallory: Api) -> None:
    forged = {"username": "admin", "groups": ["system:masters"], "uid": "0", "extra": {"a": ["b"]}}
    made = await mallory.ok("POST", COLLECTION, signing_request("a", pem_request("a"), **forged))
    assert made["spec"]["username"] == "mallory"
    assert made["spec"]["groups"] == ["system:authenticated"]
    assert "extra" not in made["spec"]
    assert "uid" not in made["spec"]
    changed = await mallory.ok("PUT", f"{COLLECTION}/a", {**made, "spec": {**made["spec"], **forged}})
    assert changed["spec"] == made["spec"]
    for media, patch in ((MERGE, {"spec": forged}), (STRATEGIC, {"spec": forged})):
        changed = await mallory.ok("PATCH", f"{COLLECTION}/a", patch, content_type=media)
        assert changed["spec"] == made["spec"]


async def test_what_was_asked_for_stays(mallory: Api) -> None:
    """Else something harmless could be approved, and something else signed."""
    made = await mallory.ok("POST", COLLECTION, signing_request("a", pem_request("a")))
    other = {"request": encoded(pem_request("admin")), "signerName": KUBELET_CLIENT, "usages": ["cert sign"]}
    for part in ("", "/approval", "/status"):
        status, changed = await mallory.ask("PUT", f"{COLLECTION}/a{part}", {**made, "spec": {**made["spec"], **other}})
        assert status == 403 or changed["spec"] == made["spec"]


async def test_nothing_is_born_approved(api: Api) -> None:
    asked = signing_request("a", pem_request("a")) | {"status": {"conditions": [APPROVED], "certificate": "eA=="}}
    assert (await api.ok("POST", COLLECTION, asked))["status"] == {}
    changed = await api.ok("PUT", f"{COLLECTION}/a", asked)
    assert changed["status"] == {}
    changed = await api.ok("PATCH", f"{COLLECTION}/a", {"status": {"conditions": [APPROVED]}}, content_type=MERGE)
    assert changed["status"] == {}


def _says(*conditions: Json) -> Json:
    return {"status": {"conditions": list(conditions)}}


@pytest.mark.parametrize(
    ("method", "media", "change"),
    [
        ("PUT", "application/json", None),
        ("PATCH", MERGE, _says(APPROVED)),
        ("PATCH", STRATEGIC, _says(APPROVED)),
        ("PATCH", JSON, [{"op": "add", "path": "/status/conditions", "value": [APPROVED]}]),
    ],
)
class TestApproval:
    """By any verb and in any form."""

    async def _send(self, api: Api, part: str, method: str, media: str, change: Any) -> tuple[int, Json]:
        if change is None:
            change = {**await api.ok("GET", f"{COLLECTION}/a"), **_says(APPROVED)}
        return await api.ask(method, f"{COLLECTION}/a/{part}", change, content_type=media)

    async def test_needs_the_signers_word(self, api: Api, mallory: Api, method: str, media: str, change: Any) -> None:
        await mallory.ok("POST", COLLECTION, signing_request("a", pem_request("a")))
        status, answer = await self._send(mallory, "approval", method, media, change)
        assert status == 403
        told = f'user not permitted to approve requests with signerName "{CLIENT}"'
        assert answer["message"] == f'certificatesigningrequests.certificates.k8s.io "a" is forbidden: {told}'

    async def test_for_one_signer_is_not_for_another(self, api: Api, method: str, media: str, change: Any) -> None:
        signers = _rule(["signers"], ["approve"], KUBELET_SERVING, "example.com/*")
        await _grant(api, MALLORY, _rule(ALL_PARTS, ["*"]), signers)
        mallory = api.as_user(MALLORY)
        await mallory.ok("POST", COLLECTION, signing_request("a", pem_request("a")))
        assert (await self._send(mallory, "approval", method, media, change))[0] == 403
        await mallory.ok("DELETE", f"{COLLECTION}/a")
        await mallory.ok("POST", COLLECTION, signing_request("a", pem_request("a"), signer="example.com/any"))
        assert (await self._send(mallory, "approval", method, media, change))[0] == 200

    async def test_does_not_come_through_status(self, api: Api, method: str, media: str, change: Any) -> None:
        """Signers sign what others approve: not even a master approves by way of the status."""
        await api.ok("POST", COLLECTION, signing_request("a", pem_request("a")))
        status, answer = await self._send(api, "status", method, media, change)
        assert status == 422
        assert 'updates may not add a condition of type "Approved"' in answer["message"]

    async def test_nor_by_the_main_door(self, mallory: Api, method: str, media: str, change: Any) -> None:
        await mallory.ok("POST", COLLECTION, signing_request("a", pem_request("a")))
        await self._send(mallory, "", method, media, change)
        assert (await mallory.ok("GET", f"{COLLECTION}/a"))["status"] == {}


async def test_only_signers_issue(api: Api, mallory: Api) -> None:
    made = await mallory.ok("POST", COLLECTION, signing_request("a", pem_request("a")))
    for status in ({"certificate": "eA=="}, {"conditions": [{"type": "Failed", "status": "True"}]}):
        for method, media in (("PUT", "application/json"), ("PATCH", MERGE)):
            body = {**made, "status": status} if method == "PUT" else {"status": status}
            code, answer = await mallory.ask(method, f"{COLLECTION}/a/status", body, content_type=media)
            # What is no certificate is told before who may say so.
            assert code in (403, 422), answer
    code, answer = await mallory.ask(
        "PATCH", f"{COLLECTION}/a/status", _says({"type": "Failed", "status": "True"}), content_type=MERGE
    )
    assert code == 403
    assert answer["message"].endswith(f'user not permitted to sign requests with signerName "{CLIENT}"')


async def test_only_signers_answer_pods(api: Api) -> None:
    """A pod's certificate request is stored as a node would make it, and answered by somebody without a say."""
    path = "/registry/certificates.k8s.io/podcertificaterequests/default/a"
    obj = {
        "apiVersion": "certificates.k8s.io/v1",
        "kind": "PodCertificateRequest",
        "metadata": {"name": "a", "namespace": "default", "uid": "u"},
        "spec": {"signerName": "example.com/signer", "podName": "p", "nodeName": "n"},
    }
    await api.server._store.create(path, encode(obj))
    await _grant(api, MALLORY, _rule(["podcertificaterequests/status"], ["*"]))
    url = "/apis/certificates.k8s.io/v1/namespaces/default/podcertificaterequests/a/status"
    denied = {"type": "Denied", "status": "True", "reason": "No", "lastTransitionTime": "2026-01-01T00:00:00Z"}
    status, answer = await api.as_user(MALLORY).ask("PATCH", url, _says(denied), content_type=MERGE)
    assert status == 422
    told = 'spec.signerName: Forbidden: User "mallory" is not permitted to "sign" for signer "example.com/signer"'
    assert answer["message"].endswith(told)
    await api.ok("PATCH", url, _says(denied), content_type=MERGE)


async def test_decisions_are_final(api: Api) -> None:
    await api.ok("POST", COLLECTION, signing_request("a", pem_request("a")))
    await api.ok("PATCH", f"{COLLECTION}/a/approval", _says({**APPROVED, "type": "Denied"}), content_type=MERGE)
    for part in ("approval", "status"):
        for conditions in ([], [APPROVED], [APPROVED, {**APPROVED, "type": "Denied"}]):
            status, _ = await api.ask("PATCH", f"{COLLECTION}/a/{part}", _says(*conditions), content_type=MERGE)
            assert status == 422, (part, conditions)


NODE_NAME = "system:node:other"


@pytest.mark.parametrize(
    ("signer", "pem", "usages"),
    [
        pytest.param(
            KUBELET_CLIENT, pem_request(NODE_NAME, organizations=["system:nodes"]), CLIENT_USAGES, id="client"
        ),
        pytest.param(
            KUBELET_SERVING, pem_request(NODE_NAME, organizations=["system:nodes"]), SERVING_USAGES, id="serving"
        ),
        pytest.param(
            KUBELET_CLIENT,
            pem_request("system:node:mine", NODE_NAME, organizations=["system:nodes"]),
            CLIENT_USAGES,
            id="two names",
        ),
        pytest.param(KUBELET_CLIENT, pem_request("mine"), CLIENT_USAGES, id="no node"),
    ],
)
async def test_a_node_asks_for_no_other(api: Api, signer: str, pem: bytes, usages: tuple[str, ...]) -> None:
    node = api.as_user(NODE)
    status, answer = await node.ask("POST", COLLECTION, signing_request("a", pem, signer=signer, usages=usages))
    assert status == 403
    assert answer["message"].endswith("can only create a node CSR with CN=system:node:mine")


async def test_a_node_approves_and_signs_nothing(api: Api) -> None:
    node = api.as_user(NODE)
    mine = pem_request("system:node:mine", organizations=["system:nodes"])
    await node.ok("POST", COLLECTION, signing_request("a", mine, signer=KUBELET_CLIENT))
    for part in ("approval", "status"):
        assert (await node.ask("PATCH", f"{COLLECTION}/a/{part}", _says(APPROVED), content_type=MERGE))[0] == 403
    assert (await node.ask("DELETE", f"{COLLECTION}/a"))[0] == 403


async def test_trust_needs_the_signers_word(api: Api) -> None:
    bundles = "/apis/certificates.k8s.io/v1/clustertrustbundles"
    await _grant(api, MALLORY, _rule(["clustertrustbundles"], ["*"]))
    mallory = api.as_user(MALLORY)
    bundle = {
        "metadata": {"name": "example.com:signer:a"},
        "spec": {"signerName": "example.com/signer", "trustBundle": ANCHOR},
    }
    status, answer = await mallory.ask("POST", bundles, bundle)
    assert status == 403
    assert answer["message"].endswith('user not permitted to attest for signerName "example.com/signer"')
    await api.ok("POST", bundles, bundle)
    harmless = {"metadata": {"finalizers": ["example.com/f"]}}
    await mallory.ok("PATCH", f"{bundles}/example.com:signer:a", harmless, content_type=MERGE)
    for change in ({"metadata": {"labels": {"a": "b"}}}, {"spec": {"trustBundle": ANCHOR + "\n"}}):
        assert (await mallory.ask("PATCH", f"{bundles}/example.com:signer:a", change, content_type=MERGE))[0] == 403
