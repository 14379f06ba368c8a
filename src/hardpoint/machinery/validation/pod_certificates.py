"""What makes a pod's certificate request invalid."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from hardpoint.machinery import names
from hardpoint.machinery.fielderrors import FieldError, invalid, invalids, json_as_go, required, too_long
from hardpoint.machinery.validation import rules
from hardpoint.machinery.validation.signers import is_kubernetes_signer, signer_name

Json = dict[str, Any]
Errors = list[FieldError]

UID_LENGTH_MAX = 128
POD_EXPIRATION_SECONDS = (3600, 91 * 24 * 3600)
KUBERNETES_EXPIRATION_SECONDS = (3600, 24 * 3600)
STUB_LENGTH_MAX = 10 * 1024
RSA_BITS = (3072, 4096)
CURVES = ("secp256r1", "secp384r1", "secp521r1")
# The fields of a pod's request in their order, with what an absent one is to Go.
_POD_SPEC: Mapping[str, str | None] = {
    "signerName": "",
    "podName": "",
    "podUID": "",
    "serviceAccountName": "",
    "serviceAccountUID": "",
    "nodeName": "",
    "nodeUID": "",
    "maxExpirationSeconds": None,
    "pkixPublicKey": None,
    "proofOfPossession": None,
    "stubPKCS10Request": None,
    "unverifiedUserAnnotations": None,
}


def on_create(obj: Json) -> Errors:
    errors: Errors = []
    spec = obj["spec"]
    signer = spec.get("signerName", "")
    errors += signer_name("spec.signerName", signer)
    for field, uid in (("podName", "podUID"), ("serviceAccountName", "serviceAccountUID"), ("nodeName", "nodeUID")):
        name = spec.get(field, "")
        errors += invalids(f"spec.{field}", name, names.dns_subdomain(name))
        if not spec.get(uid):
            errors.append(invalid(f"spec.{uid}", "", "must not be empty"))
        if names.length(spec.get(uid, "")) > UID_LENGTH_MAX:
            errors.append(too_long(f"spec.{uid}", UID_LENGTH_MAX))
    seconds = spec.get("maxExpirationSeconds")
    if seconds is None:
        errors.append(required("spec.maxExpirationSeconds", "must be set"))
        return errors
    low, high = KUBERNETES_EXPIRATION_SECONDS if is_kubernetes_signer(signer) else POD_EXPIRATION_SECONDS
    if not low <= seconds <= high:
        errors.append(invalid("spec.maxExpirationSeconds", seconds, f"must be in the range [{low}, {high}]"))
    given = [bool(spec.get(field)) for field in ("stubPKCS10Request", "pkixPublicKey", "proofOfPossession")]
    if given not in ([True, False, False], [False, True, True]):
        detail = "exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set"
        errors.append(FieldError("FieldValueInvalid", "spec", "", detail))
    elif given[0] and (problem := _stub_problem(base64.b64decode(spec["stubPKCS10Request"]))):
        errors.append(problem)
    return errors


def _stub_problem(der: bytes) -> FieldError | None:
    """A request that says nothing but which key it is, and that whoever sends it has it."""
    path = "spec.stubPKCS10Request"
    if len(der) > STUB_LENGTH_MAX:
        return too_long(path, STUB_LENGTH_MAX)
    # Loaded here because it is heavy, and most servers never see such a request.
    from cryptography import x509
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

    try:
        stub = x509.load_der_x509_csr(der)
        key = stub.public_key()
    except (ValueError, UnsupportedAlgorithm):
        return FieldError("FieldValueInvalid", path, "", "must be a valid PKCS#10 CSR")
    if isinstance(key, rsa.RSAPublicKey) and key.key_size not in RSA_BITS:
        return invalid(path, f"{key.key_size}-bit modulus", "RSA keys must have modulus size 3072 or 4096")
    if isinstance(key, ec.EllipticCurvePublicKey) and key.curve.name not in CURVES:
        return invalid(path, f"curve {key.curve.name}", "elliptic public keys must use curve P256, P384, or P521")
    if not isinstance(key, rsa.RSAPublicKey | ec.EllipticCurvePublicKey | ed25519.Ed25519PublicKey):
        detail = "unknown public key type; supported types are Ed25519, ECDSA, and RSA"
        return FieldError("FieldValueInvalid", path, "", detail)
    return None if stub.is_signature_valid else FieldError("FieldValueInvalid", path, "", "invalid signature")


def on_update(obj: Json, old: Json) -> Errors:
    """Shown as upstream's own type has it, which no version of the API does."""
    spec = obj["spec"]
    shown = json_as_go({field[0].upper() + field[1:]: spec.get(field, absent) for field, absent in _POD_SPEC.items()})
    return rules.immutable("spec", spec, old["spec"], shown=shown.replace('"PkixPublicKey":', '"PKIXPublicKey":'))
