"""Secrets that are used once each, so that whoever finds one anywhere knows where it came from."""

from __future__ import annotations

import base64
import secrets
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote

import re2
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

PIECE_BYTES_MIN = 12
"""Shorter pieces are too common to prove anything."""
PATTERN_BYTES_MAX = 1 << 30


class Canaries:
    """Every secret of a run, by what it is."""

    def __init__(self) -> None:
        self._pieces: dict[bytes, str] = {}

    def make(self, what: str) -> str:
        """A new secret, which looks like a word."""
        return self.add(what, f"k{secrets.token_hex(16)}")

    def add(self, what: str, secret: str) -> str:
        """A secret somebody else made; it is looked for whole and in the forms in which it travels."""
        self._add(what, secret.encode())
        return secret

    def add_token(self, what: str, token: str) -> str:
        """A JWT: nothing of it but its header may be seen."""
        for part in token.split(".")[1:]:
            self._add(what, part.encode())
        return token

    def add_key(self, what: str, pem: bytes) -> None:
        """A private key on a curve: its one number, as PEM would show it. What else is in the PEM is public."""
        key = serialization.load_pem_private_key(pem, None)
        assert isinstance(key, ec.EllipticCurvePrivateKey)
        self._add(what, key.private_numbers().private_value.to_bytes(key.key_size // 8))

    def __len__(self) -> int:
        return len(set(self._pieces.values()))

    def leaks(self, places: Mapping[str, bytes]) -> list[str]:
        """What was found where."""
        found = self._pattern().findall
        return sorted(
            {
                f"{self._pieces[piece]} in {place}"
                for place, content in places.items()
                for text in (content, content.replace(b"\\n", b"").replace(b"\n", b""))  # PEM is written in lines.
                for piece in found(text)
            }
        )

    def _pattern(self) -> Any:
        """All of them at once: megabytes are searched for thousands."""
        options = re2.Options()
        options.encoding = re2.Options.Encoding.LATIN1
        options.max_mem = PATTERN_BYTES_MAX
        return re2.compile(b"|".join(map(re2.escape, self._pieces)), options)

    def _add(self, what: str, secret: bytes) -> None:
        for part in (secret, secret[: len(secret) // 2]):  # Who shortens what they show begins at the beginning.
            forms = {part, quote(part, safe="").encode(), part.hex().encode(), *_in_base64(part)}
            self._pieces |= {form: what for form in forms if len(form) >= PIECE_BYTES_MIN}


def _in_base64(plain: bytes) -> Iterable[bytes]:
    """How it looks in Base64, wherever in a longer text it begins; its ends depend on the neighbours."""
    for before in range(3):
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            yield encode(b"\0" * before + plain)[4 if before else 0 : -4]
