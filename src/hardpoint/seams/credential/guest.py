"""The author's side: a function that gets a credential, as a program that kubectl and every other client can run.

    @app.credential
    def log_in(info: ExecInfo) -> Token:
        return Token(ask_the_vault(), expires=datetime.now(UTC) + timedelta(hours=1))

`hardpoint credential FILE` is the program. What the function prints goes to stderr: stdout belongs to the credential.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar, TypeAlias

import orjson

from hardpoint.machinery.errors import ConfigError
from hardpoint.runtime.authored import Authored, AuthorFailed
from hardpoint.seams.credential.contract import (
    EXEC_INFO,
    BadCredential,
    Credential,
    ExecCredentialSpec,
    answered,
    problem_of,
    question,
)


@dataclass(frozen=True, slots=True)
class Token:
    """A bearer token, good until it `expires`, or until it is refused."""

    token: str = field(repr=False)
    expires: datetime | None = None


@dataclass(frozen=True, slots=True)
class ClientCertificate:
    """A certificate chain and its key, as PEM."""

    cert_pem: str
    key_pem: str = field(repr=False)
    expires: datetime | None = None


@dataclass(frozen=True, slots=True)
class Cluster:
    """The cluster that the credential is for."""

    server: str
    tls_server_name: str
    ca_pem: bytes
    """Whom to trust for `server`; empty for whom the machine trusts."""
    config: Any
    """What the kubeconfig holds for the plugin, in the cluster's extension client.authentication.k8s.io/exec."""


@dataclass(frozen=True, slots=True)
class ExecInfo:
    """What the client tells: whether somebody can be asked on the terminal, and which cluster, if it is told."""

    interactive: bool
    cluster: Cluster | None
    """None unless the kubeconfig says `provideClusterInfo: true`."""


Given: TypeAlias = Token | ClientCertificate
CredentialFunction: TypeAlias = Callable[[ExecInfo], Given | Awaitable[Given]] | Callable[[], Given | Awaitable[Given]]
"""What an author writes."""


class CredentialGuest:
    """An author's function as a credential plugin."""

    seam: ClassVar[str] = "credential"

    def __init__(self, function: CredentialFunction) -> None:
        self.function: Authored[Given] = Authored("@app.credential", function)
        self._wants_info = self.function.takes("info")
        if not self._wants_info and not self.function.takes():
            raise self.function.wrong("must take one argument, the info, or none")

    async def output(self, environ: Mapping[str, str]) -> bytes:
        """What the plugin prints. Raises ConfigError if it was not told what it must be, AuthorFailed."""
        version, spec = _told(environ)
        given = await self.function(*((_info(spec),) if self._wants_info else ()))
        credential = _credential(given)
        problem = problem_of(credential) if credential else f"it is a {type(given).__name__}"
        if credential is None or problem:
            self.function.complain(f"returned what cannot be used: {problem}; return a Token or a ClientCertificate")
            raise AuthorFailed(f"{self.function.name} gave no credential")
        return orjson.dumps(answered(version, credential), option=orjson.OPT_APPEND_NEWLINE)


def _told(environ: Mapping[str, str]) -> tuple[Any, ExecCredentialSpec]:
    told = environ.get(EXEC_INFO)
    if not told:
        raise ConfigError(
            f"{EXEC_INFO} is not set: this is a credential plugin, which a kubeconfig's exec section runs"
        )
    try:
        return question(orjson.loads(told))
    except (BadCredential, orjson.JSONDecodeError) as cause:
        raise ConfigError(f"{EXEC_INFO} cannot be read: {cause}") from cause


def _info(spec: ExecCredentialSpec) -> ExecInfo:
    told = spec.get("cluster")
    if told is None:
        return ExecInfo(spec.get("interactive", False), None)
    try:
        ca_pem = base64.b64decode(told.get("certificate-authority-data") or "", validate=True)
    except binascii.Error as cause:
        raise ConfigError(f"{EXEC_INFO}: spec.cluster.certificate-authority-data is not base64") from cause
    cluster = Cluster(told["server"], told.get("tls-server-name", ""), ca_pem, told.get("config"))
    return ExecInfo(spec.get("interactive", False), cluster)


def _credential(given: Any) -> Credential | None:
    if isinstance(given, Token):
        return Credential(token=given.token, expires=given.expires)
    if isinstance(given, ClientCertificate):
        return Credential(cert_pem=given.cert_pem, key_pem=given.key_pem, expires=given.expires)
    return None
