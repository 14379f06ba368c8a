"""Certificates for keys that others hold: what a signing request asks for, as far as a signer of Kubernetes gives it.

Of the subject only what Go's X.509 library knows by name is taken over, and of the extensions only the alternative
names: an attribute that is read somewhere else as a uid cannot be slipped in. The validity is that of
kube-controller-manager's signers.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Collection, Iterable
from datetime import UTC, datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from hardpoint.machinery.errors import HardpointError
from hardpoint.machinery.signingrequests import SigningRequest, signature_problem
from hardpoint.serving.certificates import Authority
from hardpoint.serving.issuing import key_usage

BACKDATED = timedelta(minutes=5)
"""Clocks differ; a certificate is valid a little before it was made."""
SHORT = timedelta(hours=8)
"""A life so short is not cut at its end by what was added at its beginning."""
LIFE_MIN = timedelta(minutes=10)

_SUBJECT = (
    NameOID.COUNTRY_NAME,
    NameOID.ORGANIZATION_NAME,
    NameOID.ORGANIZATIONAL_UNIT_NAME,
    NameOID.LOCALITY_NAME,
    NameOID.STATE_OR_PROVINCE_NAME,
    NameOID.STREET_ADDRESS,
    NameOID.POSTAL_CODE,
)
_PURPOSES = {"server auth": ExtendedKeyUsageOID.SERVER_AUTH, "client auth": ExtendedKeyUsageOID.CLIENT_AUTH}


class Unsignable(HardpointError):
    """A request that will never be signed; the message says why."""


class AuthorityExpired(HardpointError):
    """The authority can no longer vouch for anybody."""


def sign(
    request: SigningRequest, authority: Authority, *, usages: Collection[str], life: timedelta, now: datetime
) -> bytes:
    """A certificate in PEM. Raises Unsignable, or AuthorityExpired."""
    if problem := signature_problem(request):
        raise Unsignable(f"unable to verify certificate request signature: {problem}")
    issuer = x509.load_pem_x509_certificate(authority.certificate_pem)
    key = serialization.load_pem_private_key(authority.key_pem, password=None)
    if not isinstance(key, ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey | ed25519.Ed25519PrivateKey):
        raise Unsignable(f"an authority with a {type(key).__name__} cannot sign")
    asked = x509.load_der_x509_csr(request.der)
    begins, ends = _validity(max(life, LIFE_MIN), issuer.not_valid_after_utc, now)
    try:
        subject = _subject(asked.subject, request)
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(issuer.subject)
            .public_key(asked.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(begins)
            .not_valid_after(ends)
        )
        for extension, is_critical in _extensions(request, usages, issuer, has_subject=bool(subject.rdns)):
            builder = builder.add_extension(extension, is_critical)
        algorithm = None if isinstance(key, ed25519.Ed25519PrivateKey) else hashes.SHA256()
        return builder.sign(key, algorithm).public_bytes(serialization.Encoding.PEM)
    except (ValueError, TypeError) as wrong:
        raise Unsignable(f"the request cannot be made a certificate: {wrong}") from wrong


def _validity(life: timedelta, issuer_ends: datetime, now: datetime) -> tuple[datetime, datetime]:
    if now >= issuer_ends:
        raise AuthorityExpired(f"the signer has expired: NotAfter={issuer_ends.astimezone(UTC).isoformat()}")
    ends = now + life if life < SHORT else now + life - BACKDATED
    return (now - BACKDATED).replace(microsecond=0), min(ends, issuer_ends).replace(microsecond=0)


def _subject(asked: x509.Name, request: SigningRequest) -> x509.Name:
    parts = []
    for kind in _SUBJECT:
        values = {attribute.value: attribute for attribute in asked.get_attributes_for_oid(kind)}
        if values:
            parts.append(x509.RelativeDistinguishedName(values.values()))
    for kind, name in ((NameOID.COMMON_NAME, request.common_name), (NameOID.SERIAL_NUMBER, _serial(asked))):
        if name:
            parts.append(x509.RelativeDistinguishedName([x509.NameAttribute(kind, name)]))
    return x509.Name(parts)


def _serial(asked: x509.Name) -> str:
    values = [attribute.value for attribute in asked.get_attributes_for_oid(NameOID.SERIAL_NUMBER)]
    return str(values[-1]) if values else ""


def _extensions(
    request: SigningRequest, usages: Collection[str], issuer: x509.Certificate, *, has_subject: bool
) -> Iterable[tuple[x509.ExtensionType, bool]]:
    yield key_usage(usages), True
    yield x509.ExtendedKeyUsage([_PURPOSES[usage] for usage in sorted(_PURPOSES) if usage in usages]), False
    yield x509.BasicConstraints(ca=False, path_length=None), True
    yield _issuer_key(issuer), False
    names = [
        *(x509.DNSName(name) for name in request.dns_names),
        *(x509.RFC822Name(name) for name in request.emails),
        *(x509.IPAddress(ipaddress.ip_address(name)) for name in request.addresses),
        *(x509.UniformResourceIdentifier(name) for name in request.uris),
    ]
    if names:
        yield x509.SubjectAlternativeName(names), not has_subject


def _issuer_key(issuer: x509.Certificate) -> x509.AuthorityKeyIdentifier:
    try:
        known = issuer.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value
    except x509.ExtensionNotFound:
        key = issuer.public_key()
        assert isinstance(key, ec.EllipticCurvePublicKey | rsa.RSAPublicKey | ed25519.Ed25519PublicKey), "it signs"
        return x509.AuthorityKeyIdentifier.from_issuer_public_key(key)
    return x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(known)
