"""A machine joins a cluster over TLS: from a bootstrap token to a certificate, and what that lets it do."""

from __future__ import annotations

import asyncio
import base64
import ssl
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from cryptography import x509

from hardpoint.client.client import Client
from hardpoint.client.kubeconfig import write_context
from hardpoint.cluster import Cluster, Options
from hardpoint.machinery.errors import ApiError
from hardpoint.machinery.signingrequests import KUBELET_CLIENT
from tests.signing_requests import COLLECTION, pem_request, private_pem, signing_request

Json = dict[str, Any]

TOKEN = ("abcdef", "0123456789abcdef")
REQUESTS = "certificatesigningrequests"


@pytest.fixture
async def cluster(tmp_path: Path) -> AsyncIterator[Cluster]:
    options = Options(data_dir=tmp_path / "data", port=0, kubeconfig=tmp_path / "admin", store="memory")
    async with Cluster(options).running() as cluster:
        yield cluster


@pytest.fixture
async def admin(cluster: Cluster, tmp_path: Path) -> AsyncIterator[Client]:
    async with Client.from_kubeconfig(tmp_path / "admin") as client:
        yield client


def _with_certificate(cluster: Cluster, folder: Path, certificate: bytes) -> Client:
    """Somebody who comes over the network, with a certificate for the key of these tests."""
    ca = (cluster.options.data_dir / "pki" / "server-ca.crt").read_bytes()
    address = cluster.state.address
    write_context(folder / "node", name="node", server=address, ca_pem=ca, cert_pem=certificate, key_pem=private_pem())
    return Client.from_kubeconfig(folder / "node")


async def _allow_joining(admin: Client) -> None:
    data = {"token-id": TOKEN[0], "token-secret": TOKEN[1], "usage-bootstrap-authentication": "true"}
    name = f"bootstrap-token-{TOKEN[0]}"
    secret = {"metadata": {"name": name, "namespace": "kube-system"}, "type": "bootstrap.kubernetes.io/token"}
    await admin.create({"apiVersion": "v1", "kind": "Secret", **secret, "stringData": data})
    roles = (
        "system:node-bootstrapper",
        "system:certificates.k8s.io:certificatesigningrequests:nodeclient",
    )
    for role in roles:
        await admin.create(
            {
                "apiVersion": "rbac.authorization.k8s.io/v1",
                "kind": "ClusterRoleBinding",
                "metadata": {"generateName": "join-"},
                "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
                "subjects": [
                    {"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "system:bootstrappers"}
                ],
            }
        )


async def _ask_with_token(cluster: Cluster, request: Json) -> int:
    """Hand in a request with nothing but the token."""
    ca = cluster.options.data_dir / "pki" / "server-ca.crt"
    config = {
        "clusters": [{"name": "c", "cluster": {"server": cluster.state.address, "certificate-authority": str(ca)}}],
        "users": [{"name": "u", "user": {"token": ".".join(TOKEN)}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    }
    path = cluster.options.data_dir / "bootstrap"
    path.write_bytes(orjson.dumps(config))
    async with Client.from_kubeconfig(path) as client:
        headers = {"content-type": "application/json"}
        return (await client.raw("POST", COLLECTION, headers=headers, body=orjson.dumps(request))).status


async def _issued(admin: Client, name: str) -> bytes:
    async with admin.list_then_watch(REQUESTS, field_selector=f"metadata.name={name}") as events:
        async for event in events:
            if certificate := (event.object.get("status") or {}).get("certificate"):
                return base64.b64decode(certificate)
    raise AssertionError("the watch ended")


async def test_a_machine_joins(cluster: Cluster, admin: Client, tmp_path: Path) -> None:
    wanted = pem_request("system:node:mine", organizations=["system:nodes"])
    request = signing_request("join", wanted, signer=KUBELET_CLIENT)
    assert await _ask_with_token(cluster, request) == 401
    await _allow_joining(admin)
    assert await _ask_with_token(cluster, request) == 201
    certificate = await _issued(admin, "join")
    async with _with_certificate(cluster, tmp_path, certificate) as node:
        made = await node.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "mine"}})
        assert (await node.get("nodes", "mine"))["metadata"]["uid"] == made["metadata"]["uid"]
        for refused in (node.get("nodes", "other"), node.list("nodes"), node.list("secrets", namespace="kube-system")):
            with pytest.raises(ApiError) as told:
                await refused
            assert told.value.code == 403
        with pytest.raises(ApiError) as told:
            await node.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "other"}})
        assert told.value.message.endswith('node "mine" is not allowed to modify node "other"')


async def test_what_a_kubelet_serves_with_is_no_user(cluster: Cluster, admin: Client, tmp_path: Path) -> None:
    """Its certificate comes from an authority that the API server believes nothing of what it says about users."""
    names = [x509.DNSName("mine")]
    wanted = pem_request("system:node:mine", organizations=["system:nodes"], names=names)
    usages = ("digital signature", "server auth")
    await admin.create(signing_request("serve", wanted, signer="kubernetes.io/kubelet-serving", usages=usages))
    request = await admin.get(REQUESTS, "serve")
    request["status"] = {"conditions": [{"type": "Approved", "status": "True", "reason": "R", "message": "m"}]}
    await admin.update(request, subresource="approval")
    certificate = await _issued(admin, "serve")
    (tmp_path / "pair.pem").write_bytes(certificate + private_pem())
    context = ssl.create_default_context(cafile=cluster.options.data_dir / "pki" / "server-ca.crt")
    context.load_cert_chain(tmp_path / "pair.pem")
    host, _, port = cluster.state.address.removeprefix("https://").partition(":")
    reader, writer = await asyncio.open_connection(host, int(port), ssl=context)
    writer.write(b"GET /readyz HTTP/1.1\r\nHost: a\r\n\r\n")
    assert await reader.read() == b"", "the handshake ends before anything is asked"
    writer.transport.abort()
