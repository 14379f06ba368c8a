"""Certificates for keys that others hold."""

from __future__ import annotations

import ipaddress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from hardpoint.apiserver.pki import ensure
from hardpoint.machinery.signingrequests import parse
from hardpoint.serving.certificates import Authority
from hardpoint.serving.signing import AuthorityExpired, Unsignable, sign
from tests.signing_requests import CLIENT_USAGES, KEY, encoded, pem_request

NOW = datetime(2026, 6, 1, 12, 0, 0, tzinfo=UTC)
UID = x509.ObjectIdentifier("1.3.6.1.4.1.57683.2")


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return ensure(tmp_path_factory.mktemp("pki") / "pki", [], NOW).authority("client-ca")


def _signed(
    pem: bytes, authority: Authority, *, usages: tuple[str, ...] = CLIENT_USAGES, life: timedelta = timedelta(days=365)
) -> x509.Certificate:
    return x509.load_pem_x509_certificate(sign(parse(encoded(pem)), authority, usages=usages, life=life, now=NOW))


def test_what_was_asked_for_is_certified(authority: Authority) -> None:
    names = [x509.DNSName("a.example.com"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    made = _signed(pem_request("ann", organizations=["a", "b"], names=names), authority)
    made.verify_directly_issued_by(x509.load_pem_x509_certificate(authority.certificate_pem))
    assert made.public_key() == KEY.public_key()
    assert [part.value for part in made.subject.get_attributes_for_oid(NameOID.COMMON_NAME)] == ["ann"]
    assert {part.value for part in made.subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)} == {"a", "b"}
    assert list(made.extensions.get_extension_for_class(x509.SubjectAlternativeName).value) == names
    assert made.extensions.get_extension_for_class(x509.BasicConstraints).value.ca is False
    usage = made.extensions.get_extension_for_class(x509.KeyUsage).value
    assert (usage.digital_signature, usage.key_encipherment, usage.key_cert_sign) == (True, False, False)
    purposes = made.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    assert list(purposes) == [ExtendedKeyUsageOID.CLIENT_AUTH]


def test_what_nobody_looked_at_is_left_out(authority: Authority) -> None:
    """A uid in the subject would be believed, and of two names only one was judged."""
    uid = x509.NameAttribute(UID, "0")
    made = _signed(pem_request("first", "ann", organizations=["a", "a"], more=[uid]), authority)
    assert made.subject.rfc4514_string() == "CN=ann,O=a"


@pytest.mark.parametrize(
    ("life", "ends"),
    [
        pytest.param(timedelta(days=365), timedelta(days=365, minutes=-5), id="the five minutes before count"),
        pytest.param(timedelta(hours=8), timedelta(hours=8, minutes=-5), id="from eight hours on"),
        pytest.param(timedelta(hours=1), timedelta(hours=1), id="not for a short life"),
        pytest.param(timedelta(seconds=1), timedelta(minutes=10), id="ten minutes at least"),
    ],
)
def test_how_long_it_is_valid(authority: Authority, life: timedelta, ends: timedelta) -> None:
    made = _signed(pem_request("ann"), authority, life=life)
    assert made.not_valid_before_utc == NOW - timedelta(minutes=5)
    assert made.not_valid_after_utc == NOW + ends


def test_nobody_outlives_the_authority(tmp_path: Path) -> None:
    authority = ensure(tmp_path / "pki", [], NOW - timedelta(days=3649)).authority("client-ca")
    issuer = x509.load_pem_x509_certificate(authority.certificate_pem)
    assert _signed(pem_request("ann"), authority).not_valid_after_utc == issuer.not_valid_after_utc
    with pytest.raises(AuthorityExpired, match=r"^the signer has expired"):
        sign(
            parse(encoded(pem_request("ann"))),
            authority,
            usages=CLIENT_USAGES,
            life=timedelta(days=1),
            now=NOW + timedelta(days=2),
        )


def test_a_key_that_is_not_held_is_not_certified(authority: Authority) -> None:
    asked = parse(encoded(pem_request("ann")))
    forged = type(asked)(asked.der[:-1] + bytes([asked.der[-1] ^ 1]), asked.common_name, asked.organizations)
    with pytest.raises(Unsignable, match="ECDSA verification failure"):
        sign(forged, authority, usages=CLIENT_USAGES, life=timedelta(days=1), now=NOW)


def test_the_key_is_not_shown(authority: Authority) -> None:
    assert "PRIVATE" not in repr(authority)
