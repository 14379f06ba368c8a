"""What both sides of the credential seam promise: a client runs a program, and the program prints a credential.

The client sets KUBERNETES_EXEC_INFO to an `ExecCredential` of client.authentication.k8s.io whose `spec` tells whether
somebody is there to be asked, and, if the kubeconfig says so, which cluster the credential is for. The program prints
the same kind in the same version on stdout and nothing else, with a `status`: a token, a client certificate with its
key, or both, and until when they are good. It says what people should read on stderr, and exits 0. Whoever runs it
keeps the credential until it expires or the server refuses it, then runs the program again.

What is printed is secret, and is in no log and no error of either side.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Literal, NotRequired, TypedDict

from hardpoint.machinery.timestamps import BadTimestamp, format_time, parse_time

GROUP = "client.authentication.k8s.io"
KIND: Final = "ExecCredential"
VERSIONS = ("v1", "v1beta1")
EXEC_INFO = "KUBERNETES_EXEC_INFO"
OUTPUT_BYTES_MAX = 1024 * 1024

Version = Literal["v1", "v1beta1"]

Cluster = TypedDict(
    "Cluster",
    {
        "server": str,
        "tls-server-name": NotRequired[str],
        "insecure-skip-tls-verify": NotRequired[bool],
        "certificate-authority-data": NotRequired[str],
        "proxy-url": NotRequired[str],
        "disable-compression": NotRequired[bool],
        "config": NotRequired[Any],
    },
)
"""The cluster a credential is for; `config` is whatever its kubeconfig entry holds for the plugin."""


class ExecCredentialSpec(TypedDict):
    cluster: NotRequired[Cluster]
    interactive: bool


class ExecCredentialStatus(TypedDict, total=False):
    expirationTimestamp: str
    token: str
    clientCertificateData: str
    clientKeyData: str


class ExecCredential(TypedDict):
    apiVersion: str
    kind: Literal["ExecCredential"]
    spec: NotRequired[ExecCredentialSpec]
    status: NotRequired[ExecCredentialStatus]


@dataclass(frozen=True, slots=True)
class Credential:
    """What a plugin gives: a token, a certificate chain with its key as PEM, or all three; and until when."""

    token: str = field(default="", repr=False)
    cert_pem: str = ""
    key_pem: str = field(default="", repr=False)
    expires: datetime | None = None


class BadCredential(ValueError):
    """What came is no ExecCredential that can be used; the text holds nothing of it."""


def asked(version: Version, *, interactive: bool, cluster: Cluster | None = None) -> ExecCredential:
    """What a plugin is told."""
    spec: ExecCredentialSpec = {"interactive": interactive}
    if cluster is not None:
        spec["cluster"] = cluster
    return {"apiVersion": f"{GROUP}/{version}", "kind": KIND, "spec": spec}


def question(info: Any) -> tuple[Version, ExecCredentialSpec]:
    """The version and the spec of what a plugin was told. Raises BadCredential."""
    version = version_of(info)
    spec = info.get("spec")
    if not isinstance(spec, dict) or not isinstance(spec.get("interactive", False), bool):
        raise BadCredential("spec.interactive must be true or false")
    cluster = spec.get("cluster")
    if cluster is not None and not (isinstance(cluster, dict) and isinstance(cluster.get("server"), str)):
        raise BadCredential("spec.cluster.server must be text")
    return version, spec  # type: ignore[return-value]  # what is used was looked at


def answered(version: Version, credential: Credential) -> ExecCredential:
    """What a plugin prints."""
    status: ExecCredentialStatus = {}
    if credential.expires is not None:
        status["expirationTimestamp"] = format_time(credential.expires)
    if credential.token:
        status["token"] = credential.token
    if credential.cert_pem:
        status["clientCertificateData"] = credential.cert_pem
        status["clientKeyData"] = credential.key_pem
    return {"apiVersion": f"{GROUP}/{version}", "kind": KIND, "status": status}


def credential_of(printed: Any, version: Version) -> Credential:
    """The credential a plugin printed that was asked in `version`. Raises BadCredential."""
    if version_of(printed) != version:
        raise BadCredential(f"apiVersion must be {GROUP}/{version}, as it was asked")
    status = printed.get("status")
    if not isinstance(status, dict):
        raise BadCredential("it has no status")
    texts = {}
    for name in ("token", "clientCertificateData", "clientKeyData", "expirationTimestamp"):
        texts[name] = status.get(name) or ""
        if not isinstance(texts[name], str):
            raise BadCredential(f"status.{name} must be text")
    credential = Credential(
        texts["token"],
        texts["clientCertificateData"],
        texts["clientKeyData"],
        _expires(texts["expirationTimestamp"]),
    )
    problem = problem_of(credential)
    if problem:
        raise BadCredential(problem)
    return credential


def problem_of(credential: Credential) -> str:
    """What keeps a credential from being used; "" if nothing does."""
    if not (credential.token or credential.cert_pem or credential.key_pem):
        return "it has neither a token nor a client certificate"
    if bool(credential.cert_pem) != bool(credential.key_pem):
        return "it has only one of client certificate and key"
    token = credential.token
    if not (token.isascii() and token.isprintable()) or " " in token:
        return "its token holds blanks, line breaks or characters beyond ASCII"
    return ""


def version_of(credential: Any) -> Version:
    """Raises BadCredential for what is no ExecCredential of a version we know."""
    if not isinstance(credential, dict) or credential.get("kind") != KIND:
        raise BadCredential(f"kind must be {KIND}")
    return known_version(credential.get("apiVersion"))


def known_version(api_version: Any) -> Version:
    group, _, version = str(api_version).rpartition("/")
    if group != GROUP or version not in VERSIONS:
        raise BadCredential(f"apiVersion must be {' or '.join(f'{GROUP}/{known}' for known in VERSIONS)}")
    return version  # type: ignore[return-value]  # it is one of VERSIONS


def _expires(text: str) -> datetime | None:
    try:
        return parse_time(text) if text else None
    except BadTimestamp as cause:
        raise BadCredential("status.expirationTimestamp is no timestamp") from cause
