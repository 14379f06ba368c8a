"""Who asks for a certificate is written down by the server."""

from __future__ import annotations

import base64

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding

from tests.apiserver.asking import Api, Json

REQUESTS = "/apis/certificates.k8s.io/v1/certificatesigningrequests"


@pytest.fixture
def spec() -> Json:
    builder = x509.CertificateSigningRequestBuilder().subject_name(x509.Name([]))
    pem = builder.sign(ec.generate_private_key(ec.SECP256R1()), hashes.SHA256()).public_bytes(Encoding.PEM)
    request = base64.b64encode(pem).decode()
    return {"request": request, "signerName": "example.com/signer", "usages": ["client auth"]}


async def test_a_client_cannot_ask_in_the_name_of_another(api: Api, spec: Json) -> None:
    forged = {**spec, "username": "system:node:n1", "groups": ["system:nodes"], "uid": "u", "extra": {"k": ["v"]}}
    answer = await api.ok("POST", REQUESTS, {"metadata": {"name": "r"}, "spec": forged})
    assert answer["spec"]["username"] == "admin"
    assert "system:nodes" not in answer["spec"]["groups"]
    assert answer["spec"].keys().isdisjoint({"uid", "extra"})


async def test_who_asked_stays(api: Api, spec: Json) -> None:
    answer = await api.ok("POST", REQUESTS, {"metadata": {"name": "r"}, "spec": spec})
    answer["spec"]["username"] = "somebody"
    answer = await api.ok("PUT", f"{REQUESTS}/r", answer)
    assert answer["spec"]["username"] == "admin"
