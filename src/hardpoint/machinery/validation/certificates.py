"""What makes a trust bundle invalid. Signing requests and those of pods have files of their own."""

from __future__ import annotations

from typing import Any

from hardpoint.machinery import names, pem
from hardpoint.machinery.fielderrors import FieldError, invalid, invalids, too_long
from hardpoint.machinery.validation import pod_certificates, rules, signing_requests
from hardpoint.machinery.validation.signers import signer_name

Json = dict[str, Any]
Errors = list[FieldError]

TRUST_BUNDLE_LENGTH_MAX = 1024 * 1024
OMITTED = "<value omitted>"


def _trust_bundle(obj: Json, old: Json | None = None) -> Errors:
    errors: Errors = []
    spec = obj["spec"]
    if old is not None:
        # A new object's name is checked with its metadata.
        errors += invalids("metadata.name", obj["metadata"]["name"], _trust_bundle_name(obj))
    if signer := spec.get("signerName"):
        errors += signer_name("spec.signerName", signer)
    if old is None or spec.get("trustBundle") != old["spec"].get("trustBundle"):
        _anchors(errors, "spec.trustBundle", spec.get("trustBundle", ""))
    if old is not None:
        errors += rules.immutable("spec.signerName", spec.get("signerName", ""), old["spec"].get("signerName"))
    return errors


def _anchors(errors: Errors, path: str, bundle: str) -> None:
    if names.length(bundle) > TRUST_BUNDLE_LENGTH_MAX:
        errors.append(too_long(path, TRUST_BUNDLE_LENGTH_MAX))
        return
    seen: dict[bytes, list[int]] = {}
    before = len(errors)
    for index, block in enumerate(pem.blocks(bundle.encode())):
        if problem := _anchor_problem(block):
            errors.append(invalid(path, OMITTED, f"entry {index} {problem}"))
        else:
            seen.setdefault(block.der, []).append(index)
    if len(errors) > before:
        return
    if not seen:
        errors.append(invalid(path, OMITTED, "at least one trust anchor must be provided"))
    for indices in seen.values():
        if len(indices) > 1:
            listed = " ".join(map(str, indices))
            errors.append(invalid(path, OMITTED, f"duplicate trust anchor (indices [{listed}])"))


def _anchor_problem(block: pem.Block) -> str:
    """What is wrong with one PEM block of a bundle, or nothing."""
    if block.kind != "CERTIFICATE":
        return f"has bad block type: {block.kind}"
    if block.has_headers:
        return "has PEM block headers"
    # Loaded here because it is heavy, and most servers never see a bundle.
    from cryptography import x509

    try:
        certificate = x509.load_der_x509_certificate(block.der)
        constraints = certificate.extensions.get_extension_for_class(x509.BasicConstraints)
    except x509.ExtensionNotFound:
        return "does not have the CA bit set"
    except ValueError:
        return "does not parse as X.509"
    return "" if constraints.value.ca else "does not have the CA bit set"


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


NAMES = {"ClusterTrustBundle": _trust_bundle_name}
CREATE = {
    "CertificateSigningRequest": signing_requests.on_create,
    "ClusterTrustBundle": _trust_bundle,
    "PodCertificateRequest": pod_certificates.on_create,
}
UPDATE = {
    "ClusterTrustBundle": _trust_bundle,
    "PodCertificateRequest": pod_certificates.on_update,
}
SUBRESOURCES = {
    "CertificateSigningRequest": {"approval": signing_requests.on_approval, "status": signing_requests.on_status}
}
