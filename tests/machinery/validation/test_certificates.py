"""Signing requests and trust bundles, with real keys."""

from __future__ import annotations

import base64
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID

from hardpoint.machinery.validation import certificates
from tests.machinery.walk import Json, changed, complaints, replaced

NAME = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "boat")])
KEY = ec.generate_private_key(ec.SECP256R1())


def request_pem() -> bytes:
    return (
        x509.CertificateSigningRequestBuilder().subject_name(NAME).sign(KEY, hashes.SHA256()).public_bytes(Encoding.PEM)
    )


def certificate_pem(*, is_ca: bool) -> str:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    builder = x509.CertificateBuilder().subject_name(NAME).issuer_name(NAME).public_key(KEY.public_key())
    builder = builder.serial_number(1).not_valid_before(now).not_valid_after(now + timedelta(days=1))
    builder = builder.add_extension(x509.BasicConstraints(ca=is_ca, path_length=None), critical=True)
    return builder.sign(KEY, hashes.SHA256()).public_bytes(Encoding.PEM).decode()


REQUEST: Json = {
    "apiVersion": "certificates.k8s.io/v1",
    "kind": "CertificateSigningRequest",
    "metadata": {"name": "r"},
    "spec": {
        "request": base64.b64encode(request_pem()).decode(),
        "signerName": "example.com/signer",
        "usages": ["client auth"],
    },
}


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        ("expirationSeconds", 600, []),
        (
            "expirationSeconds",
            599,
            ["expirationSeconds: Invalid value: 599: may not specify a duration less than 600 seconds (10 minutes)"],
        ),
        ("usages", ["client auth", "client auth"], ['usages[1]: Duplicate value: "client auth"']),
        (
            "signerName",
            "kubernetes.io/legacy-unknown",
            [
                'signerName: Invalid value: "kubernetes.io/legacy-unknown": the legacy signerName is not allowed'
                " via this"
                " API version"
            ],
        ),
        ("request", "AAAA", ['request: Invalid value: "AAAA": PEM block type must be CERTIFICATE REQUEST']),
    ],
)
def test_signing_requests(path: str, value: Any, told: list[str]) -> None:
    assert complaints(changed(REQUEST, f"spec.{path}", value)) == [f"spec.{text}" for text in told]


def test_what_was_asked_for_stays() -> None:
    obj, told = replaced(changed(REQUEST, "spec.usages", ["server auth"]), REQUEST)
    assert told == []
    assert obj["spec"]["usages"] == ["client auth"]


BUNDLE: Json = {
    "apiVersion": "certificates.k8s.io/v1",
    "kind": "ClusterTrustBundle",
    "metadata": {"name": "roots"},
    "spec": {"trustBundle": certificate_pem(is_ca=True)},
}


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        ("spec.trustBundle", certificate_pem(is_ca=True), []),
        ("spec.trustBundle", "", ["at least one trust anchor must be provided"]),
        ("spec.trustBundle", certificate_pem(is_ca=False), ["entry 0 does not have the CA bit set"]),
        ("spec.trustBundle", request_pem().decode(), ["entry 0 has bad block type: CERTIFICATE REQUEST"]),
        ("spec.trustBundle", BUNDLE["spec"]["trustBundle"] * 2, ["duplicate trust anchor (indices [0 1])"]),
    ],
)
def test_trust_bundles(path: str, value: Any, told: list[str]) -> None:
    expected = [f'spec.trustBundle: Invalid value: "<value omitted>": {text}' for text in told]
    assert complaints(changed(BUNDLE, path, value)) == expected


def test_a_signers_bundle_is_named_after_it() -> None:
    signed = changed(BUNDLE, "spec.signerName", "example.com/signer")
    assert len(complaints(signed)) == 1
    assert complaints(changed(signed, "metadata.name", "example.com:signer:roots")) == []


@pytest.mark.parametrize(
    ("conditions", "told"),
    [
        ([{"type": "Approved", "status": "True"}, {"type": "Other", "status": "Unknown"}], []),
        (
            [{"type": "Approved", "status": "False"}],
            ['status.conditions[0].status: Unsupported value: "False": supported values: "True"'],
        ),
        (
            [{"type": "", "status": ""}],
            ["status.conditions[0].type: Required value", "status.conditions[0].status: Required value"],
        ),
        (
            [{"type": "Other", "status": "True"}] * 2,
            ['status.conditions[1].type: Duplicate value: "Other"'],
        ),
    ],
)
def test_what_may_be_said_about_a_request(conditions: list[dict[str, str]], told: list[str]) -> None:
    judged = certificates.SUBRESOURCES["CertificateSigningRequest"]["approval"]
    assert [str(error) for error in judged({"status": {"conditions": conditions}}, {})] == told
