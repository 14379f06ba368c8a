"""What a certificate signing request asks for, and what each of Kubernetes' own signers demands of it.

A request is a PKCS#10 document in PEM, which the API carries in Base64. Names are read as Go reads them: of several
common names the last counts. Rules and texts are those of kube-controller-manager's signers.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hardpoint.machinery import pem

if TYPE_CHECKING:
    from cryptography import x509

CLIENT = "kubernetes.io/kube-apiserver-client"
KUBELET_CLIENT = "kubernetes.io/kube-apiserver-client-kubelet"
KUBELET_SERVING = "kubernetes.io/kubelet-serving"
LEGACY = "kubernetes.io/legacy-unknown"

REQUEST = "CERTIFICATE REQUEST"
NODE_PREFIX, NODES = "system:node:", "system:nodes"

_SIGNATURE, _ENCIPHERMENT = "digital signature", "key encipherment"
_CLIENT_AUTH, _SERVER_AUTH = "client auth", "server auth"
# Of DER: a sequence, and a length that takes several bytes.
_SEQUENCE, _LONG = 0x30, 0x80


class BadRequest(ValueError):
    """What is no signing request; the message says why."""


@dataclass(frozen=True, slots=True)
class SigningRequest:
    """What is asked for. Its signature has not been looked at."""

    der: bytes
    common_name: str
    organizations: tuple[str, ...]
    dns_names: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()
    emails: tuple[str, ...] = ()
    uris: tuple[str, ...] = ()


def parse(encoded: str) -> SigningRequest:
    """The request in `spec.request`. Raises BadRequest."""
    block = pem.first(base64.b64decode(encoded))
    if block is None or block.kind != REQUEST:
        raise BadRequest("PEM block type must be CERTIFICATE REQUEST")
    # Loaded here because it is heavy, and most servers never see such a request.
    from cryptography import x509
    from cryptography.x509.oid import NameOID

    try:
        request = x509.load_der_x509_csr(block.der)
        subject = request.subject
        names = _alternative_names(request)
    except ValueError as wrong:
        raise BadRequest(_why_malformed(block.der)) from wrong

    def said(kind: x509.ObjectIdentifier) -> tuple[str, ...]:
        values = (attribute.value for attribute in subject.get_attributes_for_oid(kind))
        return tuple(value for value in values if isinstance(value, str))

    return SigningRequest(
        der=block.der,
        common_name=(said(NameOID.COMMON_NAME) or ("",))[-1],
        organizations=said(NameOID.ORGANIZATION_NAME),
        **names,
    )


def _why_malformed(der: bytes) -> str:
    """What Go says about DER that is no request, as far as its outermost sequence tells."""
    if not der:
        return "asn1: syntax error: sequence truncated"
    start, length = 2, der[1] if len(der) > 1 else 0
    if length & _LONG:
        start += length - _LONG
        length = int.from_bytes(der[2:start], "big")
    if len(der) < start:
        return "asn1: syntax error: truncated tag or length"
    if der[0] == _SEQUENCE and start + length != len(der):
        told = "trailing data" if start + length < len(der) else "data truncated"
        return f"asn1: syntax error: {told}"
    return "asn1: structure error: tags don't match" if length else "asn1: syntax error: sequence truncated"


def _alternative_names(request: x509.CertificateSigningRequest) -> dict[str, tuple[str, ...]]:
    from cryptography import x509

    try:
        names = request.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return {}
    return {
        "dns_names": tuple(names.get_values_for_type(x509.DNSName)),
        "addresses": tuple(str(each) for each in names.get_values_for_type(x509.IPAddress)),
        "emails": tuple(names.get_values_for_type(x509.RFC822Name)),
        "uris": tuple(names.get_values_for_type(x509.UniformResourceIdentifier)),
    }


def signature_problem(request: SigningRequest) -> str:
    """Why it is not shown that whoever made the request holds the key it names, or nothing."""
    from cryptography import x509
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric import ec, rsa

    try:
        asked = x509.load_der_x509_csr(request.der)
        key, is_valid = asked.public_key(), asked.is_signature_valid
    except (UnsupportedAlgorithm, ValueError, TypeError):
        return "x509: cannot verify signature: algorithm unimplemented"
    if is_valid:
        return ""
    if isinstance(key, rsa.RSAPublicKey):
        return "crypto/rsa: verification error"
    return f"x509: {'ECDSA' if isinstance(key, ec.EllipticCurvePublicKey) else 'Ed25519'} verification failure"


def why_not(signer: str, request: SigningRequest, usages: Sequence[str]) -> str:
    """Why a signer of Kubernetes' own will not sign this, or nothing. Raises KeyError for other signers."""
    return _RULES[signer](request, usages)


def _client(_: SigningRequest, usages: Sequence[str]) -> str:
    for usage in usages:
        if usage not in (_SIGNATURE, _ENCIPHERMENT, _CLIENT_AUTH):
            return f"invalid usage for client certificate: {usage}"
    return "" if _CLIENT_AUTH in usages else f"missing required usage for client certificate: {_CLIENT_AUTH}"


def _kubelet_client(request: SigningRequest, usages: Sequence[str]) -> str:
    if request.organizations != (NODES,):
        return f"subject organization is not {NODES}"
    for told, names in (
        ("DNS", request.dns_names),
        ("Email", request.emails),
        ("IP", request.addresses),
        ("URI", request.uris),
    ):
        if names:
            return f"{told} subjectAltNames are not allowed"
    return _node_name(request) or _exactly(usages, _CLIENT_AUTH)


def _kubelet_serving(request: SigningRequest, usages: Sequence[str]) -> str:
    if request.organizations != (NODES,):
        return f"subject organization is not {NODES}"
    if not request.dns_names and not request.addresses:
        return "DNS or IP subjectAltName is required"
    for told, names in (("Email", request.emails), ("URI", request.uris)):
        if names:
            return f"{told} subjectAltNames are not allowed"
    return _exactly(usages, _SERVER_AUTH) or _node_name(request)


def _node_name(request: SigningRequest) -> str:
    is_node = request.common_name.startswith(NODE_PREFIX)
    return "" if is_node else f"subject common name does not begin with {NODE_PREFIX}"


def _exactly(usages: Sequence[str], purpose: str) -> str:
    """RSA keys encipher keys, others need not."""
    wanted = {_SIGNATURE, purpose, _ENCIPHERMENT}
    if {*usages, _ENCIPHERMENT} == wanted:
        return ""
    return f"usages did not match [{' '.join(sorted(wanted))}]"


_RULES: Mapping[str, Callable[[SigningRequest, Sequence[str]], str]] = {
    CLIENT: _client,
    KUBELET_CLIENT: _kubelet_client,
    KUBELET_SERVING: _kubelet_serving,
}
SIGNERS = tuple(_RULES)
"""Those that sign. Nothing is signed for `legacy-unknown`: this version of the API lets nobody ask for it."""
