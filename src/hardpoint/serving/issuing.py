"""Making one certificate. Keys are ECDSA P-256 throughout."""

from __future__ import annotations

import ipaddress
from collections.abc import Container, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

if TYPE_CHECKING:
    from hardpoint.serving.certificates import Wanted

_BACKDATED = timedelta(hours=1)
"""Clocks differ; a certificate is valid a little before it was made."""

_LEAF = ("digital signature",)
_AUTHORITY = ("digital signature", "cert sign", "crl sign")
_PURPOSES = {"server": ExtendedKeyUsageOID.SERVER_AUTH, "client": ExtendedKeyUsageOID.CLIENT_AUTH}


@dataclass(frozen=True, slots=True)
class Issued:
    certificate_pem: bytes
    key_pem: bytes
    expires: datetime


def issue(wanted: Wanted, issuer: tuple[bytes, bytes] | None, now: datetime) -> Issued:
    """A new key and a certificate for it, signed by `issuer` (certificate and key, PEM) or, without one, by itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = _subject(wanted)
    issuer_name, issuer_key = (subject, key) if issuer is None else _opened(*issuer)
    expires = (now + timedelta(days=wanted.days)).replace(microsecond=0)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer_name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _BACKDATED)
        .not_valid_after(expires)
    )
    for extension, is_critical in _extensions(wanted, key.public_key(), issuer_key.public_key()):
        builder = builder.add_extension(extension, is_critical)
    certificate = builder.sign(issuer_key, hashes.SHA256())
    return Issued(certificate.public_bytes(serialization.Encoding.PEM), _pem(key), expires)


def _subject(wanted: Wanted) -> x509.Name:
    organizations = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, name) for name in wanted.organizations]
    return x509.Name([*organizations, x509.NameAttribute(NameOID.COMMON_NAME, wanted.common_name)])


def _opened(certificate_pem: bytes, key_pem: bytes) -> tuple[x509.Name, ec.EllipticCurvePrivateKey]:
    key = serialization.load_pem_private_key(key_pem, password=None)
    assert isinstance(key, ec.EllipticCurvePrivateKey), "we made it"
    return x509.load_pem_x509_certificate(certificate_pem).subject, key


def _extensions(
    wanted: Wanted, key: ec.EllipticCurvePublicKey, issuer_key: ec.EllipticCurvePublicKey
) -> Iterable[tuple[x509.ExtensionType, bool]]:
    is_authority = wanted.use == "authority"
    yield x509.BasicConstraints(ca=is_authority, path_length=None), True
    yield key_usage(_AUTHORITY if is_authority else _LEAF), True
    yield x509.SubjectKeyIdentifier.from_public_key(key), False
    yield x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key), False
    if not is_authority:
        yield x509.ExtendedKeyUsage([_PURPOSES[wanted.use]]), False
    if wanted.names:
        yield x509.SubjectAlternativeName([_general_name(name) for name in wanted.names]), False


def key_usage(usages: Container[str]) -> x509.KeyUsage:
    """What a key may be used for, in the words of signing requests."""
    return x509.KeyUsage(
        digital_signature="digital signature" in usages,
        key_encipherment="key encipherment" in usages,
        key_cert_sign="cert sign" in usages,
        crl_sign="crl sign" in usages,
        content_commitment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _general_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
