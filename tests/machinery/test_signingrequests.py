"""What requests ask for, and what the signers demand of them."""

from __future__ import annotations

import base64
import ipaddress

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ed25519, rsa

from hardpoint.machinery import pem, signingrequests
from hardpoint.machinery.signingrequests import CLIENT, KUBELET_CLIENT, KUBELET_SERVING, BadRequest, parse
from tests.signing_requests import CLIENT_USAGES, SERVING_USAGES, Key, encoded, pem_request

NODES = ("system:nodes",)
DNS, ADDRESS = x509.DNSName("a.example.com"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
EMAIL, URI = x509.RFC822Name("a@example.com"), x509.UniformResourceIdentifier("spiffe://a")


def test_what_is_asked_for() -> None:
    asked = parse(encoded(pem_request("ann", organizations=["a", "b"], names=[DNS, ADDRESS, EMAIL, URI])))
    assert (asked.common_name, asked.organizations) == ("ann", ("a", "b"))
    assert (asked.dns_names, asked.addresses) == (("a.example.com",), ("127.0.0.1",))
    assert (asked.emails, asked.uris) == (("a@example.com",), ("spiffe://a",))


def test_the_last_common_name_counts() -> None:
    """As in Go, and in our own authentication: else a request could be judged by one name and used by another."""
    assert parse(encoded(pem_request("system:node:a", "admin"))).common_name == "admin"


def _der(*parts: int | bytes) -> bytes:
    body = b"".join(bytes([part]) if isinstance(part, int) else part for part in parts)
    return pem.encoded("CERTIFICATE REQUEST", body)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (b"", "PEM block type must be CERTIFICATE REQUEST"),
        (b"hello", "PEM block type must be CERTIFICATE REQUEST"),
        (pem_request("a").replace(b"REQUEST", b"THING"), "PEM block type must be CERTIFICATE REQUEST"),
        (_der(), "asn1: syntax error: sequence truncated"),
        (_der(0x30, 0), "asn1: syntax error: sequence truncated"),
        (_der(0x30, 0x82, 1), "asn1: syntax error: truncated tag or length"),
        (_der(0x30, 5, b"x"), "asn1: syntax error: data truncated"),
        (_der(pem.blocks(pem_request("a")).__next__().der, b"xx"), "asn1: syntax error: trailing data"),
        (_der(b"not der at all"), "asn1: structure error: tags don't match"),
    ],
)
def test_what_is_no_request(text: bytes, told: str) -> None:
    with pytest.raises(BadRequest, match=f"^{told}$"):
        parse(encoded(text))


@pytest.mark.parametrize(
    ("key", "told"),
    [
        (None, "x509: ECDSA verification failure"),
        (rsa.generate_private_key(65537, 2048), "crypto/rsa: verification error"),
        (ed25519.Ed25519PrivateKey.generate(), "x509: Ed25519 verification failure"),
    ],
)
def test_a_signature_of_another_key(key: Key | None, told: str) -> None:
    text = pem_request("a") if key is None else pem_request("a", key=key)
    assert signingrequests.signature_problem(parse(encoded(text))) == ""
    block = pem.first(text)
    assert block is not None
    other = bytearray(block.der)
    other[-1] ^= 1
    changed = base64.b64encode(pem.encoded(block.kind, bytes(other))).decode()
    assert signingrequests.signature_problem(parse(changed)) == told


CASES = [
    pytest.param(CLIENT, {}, CLIENT_USAGES, "", id="a client"),
    pytest.param(CLIENT, {}, ("client auth",), "", id="a client that neither signs nor enciphers"),
    pytest.param(
        CLIENT, {}, ("server auth",), "invalid usage for client certificate: server auth", id="a client that serves"
    ),
    pytest.param(
        CLIENT, {}, ("cert sign", "client auth"), "invalid usage for client certificate: cert sign", id="an authority"
    ),
    pytest.param(
        CLIENT,
        {},
        ("digital signature",),
        "missing required usage for client certificate: client auth",
        id="a client that is none",
    ),
    pytest.param(KUBELET_CLIENT, {}, CLIENT_USAGES, "", id="a kubelet"),
    pytest.param(KUBELET_CLIENT, {}, (*CLIENT_USAGES, "key encipherment"), "", id="a kubelet with an RSA key"),
    pytest.param(
        KUBELET_CLIENT,
        {},
        ("client auth",),
        "usages did not match [client auth digital signature key encipherment]",
        id="a kubelet with too few usages",
    ),
    pytest.param(
        KUBELET_CLIENT,
        {"organizations": ("system:nodes", "system:masters")},
        CLIENT_USAGES,
        "subject organization is not system:nodes",
        id="a kubelet with a second group",
    ),
    pytest.param(
        KUBELET_CLIENT, {"organizations": ()}, CLIENT_USAGES, "subject organization is not system:nodes", id="no group"
    ),
    pytest.param(
        KUBELET_CLIENT,
        {"common_name": "admin"},
        CLIENT_USAGES,
        "subject common name does not begin with system:node:",
        id="another name",
    ),
    *(
        pytest.param(
            KUBELET_CLIENT, {"names": [name]}, CLIENT_USAGES, f"{told} subjectAltNames are not allowed", id=told
        )
        for name, told in ((DNS, "DNS"), (EMAIL, "Email"), (ADDRESS, "IP"), (URI, "URI"))
    ),
    pytest.param(KUBELET_SERVING, {"names": [DNS, ADDRESS]}, SERVING_USAGES, "", id="a kubelet that serves"),
    pytest.param(
        KUBELET_SERVING, {}, SERVING_USAGES, "DNS or IP subjectAltName is required", id="a kubelet that serves nowhere"
    ),
    pytest.param(
        KUBELET_SERVING,
        {"names": [DNS, EMAIL]},
        SERVING_USAGES,
        "Email subjectAltNames are not allowed",
        id="a kubelet with mail",
    ),
    pytest.param(
        KUBELET_SERVING,
        {"names": [DNS]},
        CLIENT_USAGES,
        "usages did not match [digital signature key encipherment server auth]",
        id="a serving certificate for clients",
    ),
    pytest.param(
        KUBELET_SERVING,
        {"names": [DNS], "common_name": "kubernetes"},
        SERVING_USAGES,
        "subject common name does not begin with system:node:",
        id="a serving certificate for somebody else",
    ),
]


@pytest.mark.parametrize(("signer", "changes", "usages", "told"), CASES)
def test_signers(signer: str, changes: dict[str, object], usages: tuple[str, ...], told: str) -> None:
    wanted = {"common_name": "system:node:mine", "organizations": NODES, "names": (), **changes}
    name = wanted.pop("common_name")
    asked = parse(encoded(pem_request(name, **wanted)))  # type: ignore[arg-type]
    assert signingrequests.why_not(signer, asked, usages) == told
