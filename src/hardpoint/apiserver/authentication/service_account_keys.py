"""The keys of service accounts' tokens: one signs, that one and perhaps older ones verify.

By default there is one key, made when it is first needed and kept in a file that only its owner can read. A start does
not wait for it: cryptography is not imported before somebody shows or wants a token.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from hardpoint.apiserver.authentication.options import ServiceAccountOptions
from hardpoint.machinery import jwk, jws
from hardpoint.machinery.errors import ConfigError
from hardpoint.machinery.jwk import Key, SigningKey
from hardpoint.serving.certificates import replace_privately


class ServiceAccountKeys:
    """Signs with the key in the file that the options name, verifies with those in the others they name."""

    def __init__(self, options: ServiceAccountOptions) -> None:
        self._options = options
        self._lock = threading.Lock()
        self._is_loaded = False

    def load(self) -> None:
        """Read, or make, the keys now. From any thread; raises ConfigError if a file holds none."""
        with self._lock:
            _ = self.signer, self.all
            self._is_loaded = True

    async def wait_until_loaded(self) -> None:
        """Return when the keys are there. Others are not kept waiting: the first time takes a tenth of a second."""
        if not self._is_loaded:
            await asyncio.to_thread(self.load)

    async def sign(self, claims: Mapping[str, Any]) -> str:
        """A token of these claims."""
        await self.wait_until_loaded()
        return jws.sign(claims, self.signer)

    def candidates(self, key_id: str) -> Sequence[Key]:
        """The keys a token that names this id may be signed with; any, if it names none."""
        return [key for key in self.all if key.id == key_id] if key_id else self.all

    @cached_property
    def signer(self) -> SigningKey:
        file = self._options.signing_key_file
        if file is None:
            return jwk.generate()
        if self._options.makes_signing_key and not file.exists():
            made = jwk.generate()
            replace_privately(file, made.pem())
            return made
        try:
            return jwk.signing_key(_content(file))
        except jwk.BadKey as wrong:
            raise ConfigError(f"{file} {wrong}; it should hold the key that signs service accounts' tokens") from wrong

    @cached_property
    def all(self) -> Sequence[Key]:
        """Every key that verifies."""
        if not self._options.key_files:
            return (self.signer.public,)
        found: dict[str, Key] = {}
        for file in self._options.key_files:
            try:
                found |= {key.id: key for key in jwk.verifying_keys(_content(file))}
            except jwk.BadKey as wrong:
                raise ConfigError(f"{file} {wrong}; it is given as --service-account-key-file") from wrong
        return tuple(found.values())


def _content(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as cause:
        raise ConfigError(f"{file} cannot be read: {cause.strerror}") from cause
