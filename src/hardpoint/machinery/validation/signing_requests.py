"""What makes a certificate signing request invalid, and what approvers and signers may not say about one."""

from __future__ import annotations

import base64
from typing import Any

from hardpoint.machinery import pem, signingrequests
from hardpoint.machinery.fielderrors import FieldError, at, duplicate, forbidden, invalid, not_supported, required
from hardpoint.machinery.validation import rules
from hardpoint.machinery.validation.signers import signer_name

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
EXPIRATION_SECONDS_MIN = 600
DECISIONS = ("Approved", "Denied")
FINAL_CONDITIONS = (*DECISIONS, "Failed")

_CONDITIONS, _CERTIFICATE = "status.conditions", "status.certificate"
_CERTIFICATE_SHOWN = "<certificate data>"


def on_create(obj: Json) -> Errors:
    """What is wrong with a new request."""
    errors: Errors = []
    spec = obj["spec"]
    request = spec.get("request")
    if problem := _request_problem(request or ""):
        errors.append(invalid("spec.request", request, problem))
    _usages(errors, spec.get("usages") or [])
    signer = spec.get("signerName", "")
    if signer == signingrequests.LEGACY:
        detail = "the legacy signerName is not allowed via this API version"
        errors.append(invalid("spec.signerName", signer, detail))
    else:
        errors += signer_name("spec.signerName", signer)
    seconds = spec.get("expirationSeconds")
    if seconds is not None and seconds < EXPIRATION_SECONDS_MIN:
        detail = f"may not specify a duration less than {EXPIRATION_SECONDS_MIN} seconds (10 minutes)"
        errors.append(invalid("spec.expirationSeconds", seconds, detail))
    return errors


def on_approval(obj: Json, old: Json) -> Errors:
    """What an approver may not say."""
    conditions, before = _conditions(obj), _conditions(old)
    return _wrong_conditions(conditions, before) + _removed(conditions, before) + _both_decided(conditions, before)


def on_status(obj: Json, old: Json) -> Errors:
    """What a signer may not say: it neither approves nor denies, and what it issued stays."""
    conditions, before = _conditions(obj), _conditions(old)
    errors = _wrong_conditions(conditions, before)
    certificate, issued = (_certificate(each) for each in (obj, old))
    if certificate != issued and (problem := _certificate_problem(certificate)):
        errors.append(invalid(_CERTIFICATE, _CERTIFICATE_SHOWN, problem))
    errors += _removed(conditions, before)
    for kind in DECISIONS:
        if len(_of_type(conditions, kind)) > len(_of_type(before, kind)):
            errors.append(forbidden(_CONDITIONS, f'updates may not add a condition of type "{kind}"'))
    if issued and certificate != issued:
        errors.append(forbidden(_CERTIFICATE, "updates may not modify existing certificate content"))
    return errors + _both_decided(conditions, before)


def _request_problem(encoded: str) -> str:
    """Why a Base64 text does not hold a signed request, or nothing."""
    try:
        return signingrequests.signature_problem(signingrequests.parse(encoded))
    except signingrequests.BadRequest as wrong:
        return str(wrong)


def _usages(errors: Errors, usages: list[str]) -> None:
    if not usages:
        errors.append(required("spec.usages"))
    for index, usage in enumerate(usages):
        if usage not in USAGES:
            errors.append(not_supported(at("spec.usages", index), usage, USAGES))
    for index, usage in enumerate(usages):
        if usage in usages[:index]:
            errors.append(duplicate(at("spec.usages", index), usage))


def _conditions(request: Json) -> list[Json]:
    return (request.get("status") or {}).get("conditions") or []


def _certificate(request: Json) -> str:
    return (request.get("status") or {}).get("certificate") or ""


def _of_type(conditions: list[Json], kind: str) -> list[Json]:
    return [condition for condition in conditions if condition.get("type", "") == kind]


def _wrong_conditions(conditions: list[Json], before: list[Json]) -> Errors:
    """What is wrong in itself. A mistake that is stored already may stay."""
    errors: Errors = []
    kinds = [condition.get("type", "") for condition in conditions]
    had = [condition.get("type", "") for condition in before]
    for index, (kind, condition) in enumerate(zip(kinds, conditions, strict=True)):
        place = at(_CONDITIONS, index)
        if not kind and "" not in had:
            errors.append(required(f"{place}.type"))
        allowed = ("True",) if kind in FINAL_CONDITIONS else ("False", "True", "Unknown")
        errors += rules.required_choice(f"{place}.status", condition.get("status", ""), allowed)
        if kind in kinds[:index] and len(set(had)) == len(had):
            errors.append(duplicate(f"{place}.type", kind))
    return errors


def _both_decided(conditions: list[Json], before: list[Json]) -> Errors:
    """A request that is both approved and denied, unless it was already. Told last: a rule of the schema says so."""
    are, were = ({condition.get("type", "") for condition in each} for each in (conditions, before))
    if not are.issuperset(DECISIONS) or were.issuperset(DECISIONS):
        return []
    members = [f'conditions[{{"type": "{kind}"}}]' for kind in DECISIONS]
    told = ", ".join(f"`{member}`" for member in members)
    return [invalid(_CONDITIONS, f"{{{', '.join(members)}}}", f"must specify at most one of: {told}")]


def _removed(conditions: list[Json], before: list[Json]) -> Errors:
    return [
        forbidden(_CONDITIONS, f'updates may not remove a condition of type "{kind}"')
        for kind in FINAL_CONDITIONS
        if len(_of_type(conditions, kind)) < len(_of_type(before, kind))
    ]


def _certificate_problem(encoded: str) -> str:
    """Why a Base64 text does not hold certificates, or nothing."""
    if not encoded:
        return ""
    # Loaded here because it is heavy, and most servers never issue a certificate.
    from cryptography import x509

    blocks = list(pem.blocks(base64.b64decode(encoded)))
    for block in blocks:
        if block.kind != "CERTIFICATE":
            return f'only CERTIFICATE PEM blocks are allowed, found "{block.kind}"'
        if block.has_headers:
            return "no PEM block headers are permitted"
        try:
            x509.load_der_x509_certificate(block.der)
        except ValueError:
            return "x509: malformed certificate"
    return "" if blocks else "must contain at least one CERTIFICATE PEM block"
