"""Signed tokens and their keys: what was signed is read back, what was changed is not."""

from __future__ import annotations

import string
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from hypothesis import assume, given
from hypothesis import strategies as st

from hardpoint.machinery import jwk, jws
from hardpoint.machinery.jwk import BadKey, SigningKey

KEY = jwk.generate()
RSA = rsa.generate_private_key(65537, 2048)
CURVES = {"ES256": ec.SECP256R1(), "ES384": ec.SECP384R1(), "ES512": ec.SECP521R1()}

scalars = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=20)
claims = st.dictionaries(st.text(max_size=10), scalars | st.lists(scalars, max_size=3), max_size=6)


def pem(private: Any) -> bytes:
    form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return bytes(private.private_bytes(*form))


def public_pem(private: Any) -> bytes:
    form = (serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    return bytes(private.public_key().public_bytes(*form))


@given(claims)
def test_what_was_signed_is_read_back(told: dict[str, Any]) -> None:
    signed = jws.parse(jws.sign(told, KEY))
    jws.verify(signed, [KEY.public])
    assert signed.claims == told
    assert signed.key_id == KEY.public.id


@given(st.data())
def test_no_other_text_is_the_same_token(data: st.DataObject) -> None:
    """One character of it changed, left out or put in: it is not a token, or not one that we signed."""
    token = jws.sign({"sub": "jane", "aud": ["a"]}, KEY)
    position = data.draw(st.integers(0, len(token) - 1))
    character = data.draw(st.sampled_from(["", *string.ascii_letters, *"0123456789-_.=+/ \n"]))
    grows = data.draw(st.booleans())
    changed = token[:position] + character + token[position + (not grows) :]
    assume(changed != token)
    with pytest.raises(jws.BadToken):
        jws.verify(jws.parse(changed), [KEY.public])


@given(st.text(max_size=200) | st.binary(max_size=200).map(lambda data: data.decode("latin-1")))
def test_any_text_is_a_token_or_refused(text: str) -> None:
    with pytest.raises(jws.BadToken):
        jws.parse(text)


@pytest.mark.parametrize("algorithm", [*CURVES, "RS256"])
def test_every_kind_of_key(algorithm: str) -> None:
    private = RSA if algorithm == "RS256" else ec.generate_private_key(CURVES[algorithm])
    key = jwk.signing_key(pem(private))
    assert key.algorithm == algorithm
    signed = jws.parse(jws.sign({"a": 1}, key))
    for read in (*jwk.verifying_keys(pem(private)), *jwk.verifying_keys(public_pem(private))):
        jws.verify(signed, [read])
        assert read.id == key.public.id
    again = jwk.from_jwk(key.public.jwk())
    jws.verify(signed, [again])


def test_keys_that_are_not_for_tokens() -> None:
    for private in (ed25519.Ed25519PrivateKey.generate(), ec.generate_private_key(ec.SECP256K1())):
        with pytest.raises(BadKey):
            jwk.verifying_keys(public_pem(private))
    for text in (b"", b"nonsense", b"-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----"):
        with pytest.raises(BadKey):
            jwk.verifying_keys(text)
        with pytest.raises(BadKey):
            jwk.signing_key(text)


def test_an_encrypted_key_is_told_apart() -> None:
    encrypted = RSA.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.BestAvailableEncryption(b"x")
    )
    with pytest.raises(BadKey, match="unencrypted"):
        jwk.signing_key(encrypted)


def test_several_keys_in_a_file() -> None:
    first, second = jwk.generate(), jwk.generate()
    found = jwk.verifying_keys(first.pem() + b"words between\n" + public_pem(second.private))
    assert [key.id for key in found] == [first.public.id, second.public.id]


def test_a_key_set_may_narrow_what_a_key_is_for() -> None:
    told = jwk.verifying_keys(public_pem(RSA))[0].jwk()
    narrowed = jwk.from_jwk({**told, "alg": "PS512"})
    assert narrowed.algorithms == ("PS512",)
    assert jwk.from_jwk({**told, "alg": "HS256"}).algorithms == ()
    del told["alg"]
    assert "RS384" in jwk.from_jwk(told).algorithms


def test_keys_do_not_show_themselves(recwarn: pytest.WarningsRecorder) -> None:
    key: SigningKey = jwk.generate()
    assert str(key.private) not in repr(key)
    assert "private=" not in repr(key)
    assert not recwarn.list
