"""Static tokens: a CSV file of token, user, uid and, quoted, groups. Read once, at start, if a file is given."""

from __future__ import annotations

import csv
import hmac
import logging
import os
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path

from hardpoint.machinery.errors import ConfigError
from hardpoint.machinery.messages import User
from hardpoint.seams.authentication.contract import Identified, TokenAuthenticator

log = logging.getLogger(__name__)


class TokenFile:
    """Knows the tokens of a file. Raises ConfigError, naming the line, if it cannot be used."""

    def __init__(self, path: Path) -> None:
        self._secret = os.urandom(32)
        self._users: dict[bytes, tuple[bytes, User]] = {}
        """By a keyed hash, so that how long a look-up takes tells nothing of the tokens there are."""
        for number, row in _rows(path):
            token, name, uid, *groups = row
            if not token.strip():
                log.warning("static token is empty", extra={"file": str(path), "line": number})
                continue
            digest = self._digest(token)
            if digest in self._users:
                log.warning("static token repeated, the last one counts", extra={"file": str(path), "line": number})
            members = tuple(groups[0].split(",")) if groups and groups[0] else ()
            self._users[digest] = (token.encode(), User(name, members, uid))

    async def identify(self, token: str, audiences: Sequence[str]) -> Identified | None:
        known, user = self._users.get(self._digest(token), (b"", None))
        if user is None or not hmac.compare_digest(known, token.encode("utf-8", "surrogatepass")):
            return None
        return Identified(user)

    def _digest(self, token: str) -> bytes:
        return blake2b(token.encode("utf-8", "surrogatepass"), key=self._secret).digest()


def _rows(path: Path) -> list[tuple[int, list[str]]]:
    try:
        with path.open(newline="", encoding="utf-8") as opened:
            reader = csv.reader(opened, strict=True)
            rows = [(reader.line_num, row) for row in reader if row]
    except (OSError, UnicodeDecodeError, csv.Error) as cause:
        # The words of a csv.Error and a UnicodeDecodeError may quote the file.
        why = cause.strerror if isinstance(cause, OSError) else "it is not a CSV file in UTF-8"
        raise ConfigError(f"--token-auth-file {path} cannot be read: {why}") from None
    for number, row in rows:
        if len(row) < 3:
            needs = "at least 3 columns (token, user name, user uid)"
            raise ConfigError(f"--token-auth-file {path} line {number} must have {needs}, and has {len(row)}")
    return rows


_conforms: type[TokenAuthenticator] = TokenFile
