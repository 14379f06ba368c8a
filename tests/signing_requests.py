"""Signing requests for tests: real keys, real PKCS#10."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.x509.oid import NameOID

Json = dict[str, Any]
Key = ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey | ed25519.Ed25519PrivateKey

KEY = ec.generate_private_key(ec.SECP256R1())
COLLECTION = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
CLIENT_USAGES = ("digital signature", "client auth")
SERVING_USAGES = ("digital signature", "server auth")


def pem_request(
    *common_names: str,
    organizations: Iterable[str] = (),
    names: Iterable[x509.GeneralName] = (),
    more: Iterable[x509.NameAttribute[str]] = (),
    key: Key = KEY,
) -> bytes:
    """A PKCS#10 request in PEM, signed by the key it names."""
    subject = [
        *(x509.NameAttribute(NameOID.ORGANIZATION_NAME, each) for each in organizations),
        *(x509.NameAttribute(NameOID.COMMON_NAME, each) for each in common_names),
        *more,
    ]
    builder = x509.CertificateSigningRequestBuilder().subject_name(x509.Name(subject))
    if names := list(names):
        builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
    signed = builder.sign(key, None if isinstance(key, ed25519.Ed25519PrivateKey) else hashes.SHA256())
    return signed.public_bytes(serialization.Encoding.PEM)


def encoded(pem: bytes) -> str:
    return base64.b64encode(pem).decode()


def signing_request(
    name: str,
    pem: bytes,
    *,
    signer: str = "kubernetes.io/kube-apiserver-client",
    usages: Iterable[str] = CLIENT_USAGES,
    **spec: Any,
) -> Json:
    """The object that asks for it."""
    return {
        "apiVersion": "certificates.k8s.io/v1",
        "kind": "CertificateSigningRequest",
        "metadata": {"name": name},
        "spec": {"request": encoded(pem), "signerName": signer, "usages": list(usages), **spec},
    }


def private_pem(key: Key = KEY) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
