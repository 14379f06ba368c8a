"""What makes a certificate signing request, a pod's certificate request or a trust bundle invalid."""

from __future__ import annotations

import base64
import binascii
import re
from typing import Any

from hardpoint.machinery import names
from hardpoint.machinery.fielderrors import (
    FieldError,
    at,
    duplicate,
    forbidden,
    invalid,
    invalids,
    not_supported,
    required,
    too_long,
)
from hardpoint.machinery.validation import rules
from hardpoint.machinery.validation.signers import is_kubernetes_signer, signer_name

Json = dict[str, Any]
Errors = list[FieldError]

# fmt: off
USAGES = (
    "any", "cert sign", "client auth", "code signing", "content commitment", "crl sign", "data encipherment",
    "decipher only", "digital signature", "email protection", "encipher only", "ipsec end system", "ipsec tunnel",
    "ipsec user", "key agreement", "key encipherment", "microsoft sgc", "netscape sgc", "ocsp signing", "s/mime",
    "server auth", "signing", "timestamping",
)
# fmt: on
LEGACY_SIGNER = "kubernetes.io/legacy-unknown"
EXPIRATION_SECONDS_MIN = 600
FINAL_CONDITIONS = ("Approved", "Denied", "Failed")
UID_LENGTH_MAX = 128
POD_EXPIRATION_SECONDS = (3600, 91 * 24 * 3600)
KUBERNETES_EXPIRATION_SECONDS = (3600, 24 * 3600)
TRUST_BUNDLE_LENGTH_MAX = 1024 * 1024
OMITTED = "<value omitted>"

_PEM = re.compile(r"-----BEGIN ([^-]+)-----\s*?\n(.*?)-----END \1-----", re.DOTALL)


def _signing_request(obj: Json, old: Json | None = None) -> Errors:
    errors: Errors = []
    spec = obj["spec"]
    request = spec.get("request")
    if problem := _request_problem(request or ""):
        errors.append(invalid("spec.request", request or None, problem))
    usages = spec.get("usages") or []
    if not usages:
        errors.append(required("spec.usages"))
    for index, usage in enumerate(usages):
        if usage not in USAGES:
            errors.append(not_supported(at("spec.usages", index), usage, USAGES))
    for index, usage in enumerate(usages):
        if usage in usages[:index]:
            errors.append(duplicate(at("spec.usages", index), usage))
    signer = spec.get("signerName", "")
    if signer == LEGACY_SIGNER and old is None:
        detail = "the legacy signerName is not allowed via this API version"
        errors.append(invalid("spec.signerName", signer, detail))
    else:
        errors += signer_name("spec.signerName", signer)
    seconds = spec.get("expirationSeconds")
    if seconds is not None and seconds < EXPIRATION_SECONDS_MIN:
        detail = f"may not specify a duration less than {EXPIRATION_SECONDS_MIN} seconds (10 minutes)"
        errors.append(invalid("spec.expirationSeconds", seconds, detail))
    if old is not None:
        _kept_conditions(errors, "status.conditions", obj.get("status") or {}, old.get("status") or {})
    return errors


def _request_problem(encoded: str) -> str:
    """Why a base64 text does not hold a signed request, or nothing."""
    found = _PEM.search(base64.b64decode(encoded).decode("latin-1"))
    if found is None or found[1] != "CERTIFICATE REQUEST":
        return "PEM block type must be CERTIFICATE REQUEST"
    # Loaded here because it is heavy, and most servers never see such a request.
    from cryptography import x509

    try:
        request = x509.load_der_x509_csr(base64.b64decode(found[2]))
    except (ValueError, binascii.Error):
        return "asn1: structure error: tags don't match"
    return "" if request.is_signature_valid else "x509: invalid signature: parent certificate cannot sign this request"


def _judged(obj: Json, old: Json) -> Errors:
    """What approvers and signers may say about a request."""
    errors: Errors = []
    path, status = "status.conditions", obj.get("status") or {}
    seen: set[str] = set()
    for index, condition in enumerate(status.get("conditions") or ()):
        kind, said = condition.get("type", ""), condition.get("status", "")
        place = at(path, index)
        if not kind:
            errors.append(required(f"{place}.type"))
        allowed = ("True",) if kind in FINAL_CONDITIONS else ("False", "True", "Unknown")
        errors += rules.required_choice(f"{place}.status", said, allowed)
        if kind in seen:
            errors.append(duplicate(f"{place}.type", kind))
        seen.add(kind)
    _kept_conditions(errors, path, status, old.get("status") or {})
    return errors


def _kept_conditions(errors: Errors, path: str, status: Json, before: Json) -> None:
    def of_type(holder: Json, kind: str) -> list[Json]:
        return [condition for condition in holder.get("conditions") or () if condition.get("type") == kind]

    for kind in FINAL_CONDITIONS:
        if len(of_type(status, kind)) < len(of_type(before, kind)):
            errors.append(forbidden(path, f'updates may not remove a condition of type "{kind}"'))


def _trust_bundle(obj: Json, old: Json | None = None) -> Errors:
    errors: Errors = []
    spec = obj["spec"]
    if signer := spec.get("signerName"):
        errors += signer_name("spec.signerName", signer)
    if old is None or spec.get("trustBundle") != old["spec"].get("trustBundle"):
        _anchors(errors, "spec.trustBundle", spec.get("trustBundle", ""))
    if old is not None:
        errors += rules.immutable("spec.signerName", spec.get("signerName"), old["spec"].get("signerName"))
    return errors


def _anchors(errors: Errors, path: str, bundle: str) -> None:
    if names.length(bundle) > TRUST_BUNDLE_LENGTH_MAX:
        errors.append(too_long(path, TRUST_BUNDLE_LENGTH_MAX))
        return
    seen: dict[bytes, list[int]] = {}
    before = len(errors)
    for index, (kind, body) in enumerate(_PEM.findall(bundle)):
        problem, der = _anchor(kind, body)
        if problem:
            errors.append(invalid(path, OMITTED, f"entry {index} {problem}"))
        else:
            seen.setdefault(der, []).append(index)
    if len(errors) > before:
        return
    if not seen:
        errors.append(invalid(path, OMITTED, "at least one trust anchor must be provided"))
    for indices in seen.values():
        if len(indices) > 1:
            listed = " ".join(map(str, indices))
            errors.append(invalid(path, OMITTED, f"duplicate trust anchor (indices [{listed}])"))


def _anchor(kind: str, body: str) -> tuple[str, bytes]:
    """What is wrong with one PEM block of a bundle, and what it holds."""
    if kind != "CERTIFICATE":
        return f"has bad block type: {kind}", b""
    if ":" in body:
        return "has PEM block headers", b""
    # Loaded here because it is heavy, and most servers never see a bundle.
    from cryptography import x509

    try:
        der = base64.b64decode(body)
        constraints = x509.load_der_x509_certificate(der).extensions.get_extension_for_class(x509.BasicConstraints)
    except x509.ExtensionNotFound:
        return "does not have the CA bit set", b""
    except (ValueError, binascii.Error):
        return "does not parse as X.509", b""
    return ("", der) if constraints.value.ca else ("does not have the CA bit set", b"")


def _trust_bundle_name(obj: Json) -> list[str]:
    """Bundles of a signer carry its name before theirs, with a colon for the slash."""
    name, signer = obj["metadata"]["name"], obj["spec"].get("signerName", "")
    if not signer:
        if ":" in name:
            return ['ClusterTrustBundle without signer name must not have ":" in its name']
        return names.dns_subdomain(name)
    prefix = signer.replace("/", ":") + ":"
    if not name.startswith(prefix):
        told = f"ClusterTrustBundle for signerName {signer} must be named with prefix {prefix}"
        return [told]
    return names.dns_subdomain(name.removeprefix(prefix))


def _pod_request(obj: Json) -> Errors:
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
    return errors


def _pod_request_update(obj: Json, old: Json) -> Errors:
    return rules.immutable("spec", obj["spec"], old["spec"])


NAMES = {"ClusterTrustBundle": _trust_bundle_name}
CREATE = {
    "CertificateSigningRequest": _signing_request,
    "ClusterTrustBundle": _trust_bundle,
    "PodCertificateRequest": _pod_request,
}
UPDATE = {
    "CertificateSigningRequest": _signing_request,
    "ClusterTrustBundle": _trust_bundle,
    "PodCertificateRequest": _pod_request_update,
}
SUBRESOURCES = {"CertificateSigningRequest": {"approval": _judged, "status": _judged}}
