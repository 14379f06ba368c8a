"""From a request to a certificate: approved by a controller or a person, signed, and cleaned up."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from cryptography import x509
from cryptography.x509.oid import NameOID

from hardpoint.apiserver.pki import ensure
from hardpoint.client.client import Client
from hardpoint.controllers.csr_cleaner import ends
from hardpoint.controllers.signing_requests import REQUESTS, has_condition
from hardpoint.machinery.messages import User
from hardpoint.machinery.signingrequests import CLIENT, KUBELET_CLIENT, KUBELET_SERVING
from hardpoint.serving.certificates import Authority
from tests.controllers.world import World
from tests.signing_requests import CLIENT_USAGES, SERVING_USAGES, encoded, pem_request, signing_request

Json = dict[str, Any]

BOOTSTRAPPER = User("system:bootstrap:abcdef", ("system:bootstrappers", "system:authenticated"))
NODE = User("system:node:mine", ("system:nodes", "system:authenticated"))
OF_NODE = pem_request("system:node:mine", organizations=["system:nodes"])


@pytest.fixture(scope="module")
def authorities(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Authority]:
    pki = ensure(tmp_path_factory.mktemp("pki") / "pki", [], datetime.now(UTC))
    clients = dict.fromkeys((CLIENT, KUBELET_CLIENT), pki.authority("client-ca"))
    return {**clients, KUBELET_SERVING: pki.authority("kubelet-ca")}


@pytest.fixture
async def world(bare: World, authorities: Mapping[str, Authority]) -> AsyncIterator[World]:
    """A server whose controllers sign."""
    async with bare.controlled(authorities=authorities):
        yield bare


async def _bind(world: World, role: str, user: User) -> None:
    await world.client.create(
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"generateName": "test-"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user.name}],
        }
    )


async def _approve(client: Client, name: str, decision: str = "Approved") -> Json:
    request = await client.get(REQUESTS, name)
    request["status"] = {"conditions": [{"type": decision, "status": "True", "reason": "ByATest", "message": "fine"}]}
    return await client.update(request, subresource="approval")


async def _settled(world: World, name: str) -> Json:
    """The request once a certificate was issued, or refused for good."""

    async def is_done() -> bool:
        found = await world.client.get(REQUESTS, name)
        return bool(found["status"].get("certificate")) or has_condition(found, "Failed")

    await world.until(is_done)
    return await world.client.get(REQUESTS, name)


def _certificate(request: Json) -> x509.Certificate:
    return x509.load_pem_x509_certificate(base64.b64decode(request["status"]["certificate"]))


async def test_a_person_approves_and_gets_a_certificate(world: World, authorities: Mapping[str, Authority]) -> None:
    asked = signing_request("ann", pem_request("ann", organizations=["dev"]), expirationSeconds=3600)
    await world.client.create(asked)
    await _approve(world.client, "ann")
    issued = await _settled(world, "ann")
    made = _certificate(issued)
    made.verify_directly_issued_by(x509.load_pem_x509_certificate(authorities[CLIENT].certificate_pem))
    assert made.subject.get_attributes_for_oid(NameOID.COMMON_NAME)[0].value == "ann"
    assert made.not_valid_after_utc - made.not_valid_before_utc == timedelta(hours=1, minutes=5)
    assert [condition["type"] for condition in issued["status"]["conditions"]] == ["Approved"]


async def test_what_is_denied_is_not_signed(world: World) -> None:
    for name, decision in (("no", "Denied"), ("yes", "Approved")):
        await world.client.create(signing_request(name, pem_request(name)))
        await _approve(world.client, name, decision)
    await _settled(world, "yes")
    assert "certificate" not in (await world.client.get(REQUESTS, "no"))["status"]


@pytest.mark.parametrize(
    ("signer", "pem", "usages", "told"),
    [
        (
            KUBELET_CLIENT,
            pem_request("system:node:mine", organizations=["system:nodes", "system:masters"]),
            CLIENT_USAGES,
            "subject organization is not system:nodes",
        ),
        (
            KUBELET_CLIENT,
            pem_request("system:kube-controller-manager", organizations=["system:nodes"]),
            CLIENT_USAGES,
            "subject common name does not begin with system:node:",
        ),
        (KUBELET_SERVING, OF_NODE, SERVING_USAGES, "DNS or IP subjectAltName is required"),
        (CLIENT, pem_request("a"), ("cert sign", "client auth"), "invalid usage for client certificate: cert sign"),
    ],
)
async def test_what_breaks_the_signers_rules_fails(
    world: World, signer: str, pem: bytes, usages: tuple[str, ...], told: str
) -> None:
    await world.client.create(signing_request("bad", pem, signer=signer, usages=usages))
    await _approve(world.client, "bad")
    failed = (await _settled(world, "bad"))["status"]
    assert "certificate" not in failed
    condition = failed["conditions"][-1]
    assert (condition["type"], condition["reason"]) == ("Failed", "SignerValidationFailure")
    assert condition["message"] == told


async def test_a_node_joins_by_itself(world: World) -> None:
    """With the roles that every cluster has, and the bindings that say who may join."""
    await _bind(world, "system:node-bootstrapper", BOOTSTRAPPER)
    await _bind(world, "system:certificates.k8s.io:certificatesigningrequests:nodeclient", BOOTSTRAPPER)
    await world.as_user(BOOTSTRAPPER).create(signing_request("join", OF_NODE, signer=KUBELET_CLIENT))
    joined = await _settled(world, "join")
    condition = joined["status"]["conditions"][0]
    assert (condition["type"], condition["reason"]) == ("Approved", "AutoApproved")
    assert condition["message"] == "Auto approving kubelet client certificate after SubjectAccessReview."
    assert joined["spec"]["username"] == BOOTSTRAPPER.name
    assert _certificate(joined).subject.rfc4514_string() == "CN=system:node:mine,O=system:nodes"


async def test_a_node_renews_its_own(world: World) -> None:
    await _bind(world, "system:certificates.k8s.io:certificatesigningrequests:selfnodeclient", NODE)
    await world.as_user(NODE).create(signing_request("renew", OF_NODE, signer=KUBELET_CLIENT))
    condition = (await _settled(world, "renew"))["status"]["conditions"][0]
    assert condition["message"] == "Auto approving self kubelet client certificate after SubjectAccessReview."


async def test_nobody_is_approved_who_may_not_ask(world: World) -> None:
    """Not without the permission, not for another node with the permission for oneself, not for other signers."""
    await _bind(world, "system:node-bootstrapper", BOOTSTRAPPER)
    await _bind(world, "system:certificates.k8s.io:certificatesigningrequests:selfnodeclient", BOOTSTRAPPER)
    stranger = world.as_user(BOOTSTRAPPER)
    await stranger.create(signing_request("other", OF_NODE, signer=KUBELET_CLIENT))
    names = [x509.DNSName("mine")]
    serving = pem_request("system:node:mine", organizations=["system:nodes"], names=names)
    await stranger.create(signing_request("serving", serving, signer=KUBELET_SERVING, usages=SERVING_USAGES))
    await stranger.create(signing_request("client", OF_NODE))
    await _bind(world, "system:certificates.k8s.io:certificatesigningrequests:selfnodeclient", NODE)
    await world.as_user(NODE).create(signing_request("renew", OF_NODE, signer=KUBELET_CLIENT))
    await _settled(world, "renew")
    for name in ("other", "serving", "client"):
        assert not (await world.client.get(REQUESTS, name))["status"].get("conditions"), name


NOW = datetime(2026, 1, 1, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def _request(*conditions: str, certificate: str = "") -> Json:
    listed = [{"type": each, "status": "True", "lastUpdateTime": "2026-01-01T00:00:00Z"} for each in conditions]
    status: Json = {"conditions": listed} if listed else {}
    if certificate:
        status["certificate"] = encoded(certificate.encode())
    return {"metadata": {"creationTimestamp": "2026-01-01T00:00:00Z"}, "status": status}


@pytest.mark.parametrize(
    ("request_", "after"),
    [
        pytest.param(_request(), [DAY], id="nobody decided"),
        pytest.param(_request("Approved", certificate="odd"), [HOUR], id="issued"),
        pytest.param(_request("Approved"), [DAY], id="approved, but nobody signs"),
        pytest.param(_request("Denied"), [HOUR], id="denied"),
        pytest.param(_request("Approved", "Failed"), [DAY, HOUR], id="failed"),
        pytest.param(_request("Other"), [], id="somebody said something else"),
    ],
)
def test_when_requests_go(request_: Json, after: list[timedelta]) -> None:
    assert [end - NOW for end in ends(request_)] == after


async def test_old_requests_go(bare: World, authorities: Mapping[str, Authority]) -> None:
    made = [await bare.client.create(signing_request(name, pem_request(name))) for name in ("open", "no", "yes")]
    await _approve(bare.client, "no", "Denied")
    async with bare.controlled(authorities=authorities, now=lambda: datetime.now(UTC) + 2 * HOUR):
        await bare.until_gone(made[1])
        assert await bare.find(made[0])
        await _approve(bare.client, "yes")
        await bare.until_gone(made[2])
    async with bare.controlled(authorities=authorities, now=lambda: datetime.now(UTC) + DAY + HOUR):
        await bare.until_gone(made[0])
