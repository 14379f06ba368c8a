"""How a client proves who it is: headers, a client certificate, or both.

`Credentials` is the seam for exec plugins and the like; what needs no program, texts and files, is here.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from hardpoint.machinery.errors import ConfigError


@dataclass(frozen=True, slots=True)
class ClientCertificate:
    """A certificate chain and its key, as PEM."""

    cert_pem: bytes
    key_pem: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Proof:
    """What goes with one request. Its headers are secrets and are never shown."""

    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    certificate: ClientCertificate | None = None


class Credentials(Protocol):
    """Says who is asking. One object serves many requests at once."""

    async def proof(self) -> Proof:
        """What to send with the next request. Called before each one, so answers come from memory while they can.

        A certificate that differs from the last one makes the client open new connections.
        """
        ...

    def refused(self, proof: Proof) -> None:
        """The server answered 401 to `proof`: do not give the same one again if there is a way to a better one."""
        ...


class CredentialPlugins(Protocol):
    """Makes the credentials of a kubeconfig user that has an `exec` section."""

    def __call__(self, exec_section: Mapping[str, object], cluster: Mapping[str, object]) -> Credentials:
        """`exec_section` is as written, its command already found relative to its file.

        `cluster` is the `spec.cluster` that a plugin is told when it asks for it.
        """
        ...


@dataclass(frozen=True, slots=True)
class FixedCredentials:
    """The same proof every time."""

    fixed: Proof

    async def proof(self) -> Proof:
        return self.fixed

    def refused(self, proof: Proof) -> None:
        """There is no other proof to turn to."""


ANONYMOUS = FixedCredentials(Proof())
"""Nobody in particular."""


class FileContent:
    """A small file's content, read again whenever the file was replaced or changed."""

    def __init__(self, path: Path, said_in: str) -> None:
        self._path = path
        self.said_in = said_in
        self._seen: tuple[int, int, int] | None = None
        self._content = b""

    def read(self) -> bytes:
        try:
            found = os.stat(self._path)
            seen = (found.st_ino, found.st_mtime_ns, found.st_size)
            if seen != self._seen:
                self._content = self._path.read_bytes()
                self._seen = seen
        except OSError as cause:
            raise ConfigError(f"{self.said_in} names {self._path}, which cannot be read: {cause.strerror}") from cause
        return self._content


@dataclass(frozen=True, slots=True)
class FileCredentials:
    """Headers that stay, and a token and a certificate that may live in files which others renew."""

    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    token: FileContent | None = None
    cert: FileContent | bytes | None = field(default=None, repr=False)
    key: FileContent | bytes | None = field(default=None, repr=False)

    async def proof(self) -> Proof:
        headers = self.headers
        if self.token is not None:
            headers = (*headers, bearer(self.token.read().decode("latin-1").strip(), self.token.said_in))
        certificate = None
        if self.cert is not None and self.key is not None:
            certificate = ClientCertificate(_content(self.cert), _content(self.key))
        return Proof(headers, certificate)

    def refused(self, proof: Proof) -> None:
        """The files are looked at before every request anyway."""


def bearer(token: str, said_in: str) -> tuple[str, str]:
    """The header that carries `token`, which `said_in` names."""
    if not (token.isascii() and token.isprintable()) or " " in token:
        raise ConfigError(f"{said_in} is no token: it holds blanks, line breaks or characters beyond ASCII")
    return ("authorization", f"Bearer {token}")


def basic(username: str, password: str) -> tuple[str, str]:
    return ("authorization", "Basic " + base64.b64encode(f"{username}:{password}".encode()).decode())


def _content(source: FileContent | bytes) -> bytes:
    return source if isinstance(source, bytes) else source.read()


_conforms: tuple[type[Credentials], ...] = (FixedCredentials, FileCredentials)
