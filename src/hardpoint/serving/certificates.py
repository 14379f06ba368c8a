"""Certificates in a folder: which there should be, who vouches for whom, and when a new one is due.

What was issued is written down in `issued.json`, so that a start at which nothing is due reads one small file and no
X.509; the issuing itself is in `issuing.py`. Which certificates a cluster has is in `apiserver/pki.py`.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast

import orjson

from hardpoint.machinery.errors import ConfigError

AUTHORITY_DAYS = 3650
LEAF_DAYS = 365
RENEWAL = timedelta(days=30)
"""How long before its end a certificate is replaced."""

_RECORD = "issued.json"


class Wanted(NamedTuple):
    """A certificate that should exist. An authority names itself as its `issuer`."""

    file: str
    issuer: str
    common_name: str
    use: Literal["authority", "server", "client"]
    days: int = LEAF_DAYS
    organizations: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    """DNS names and IP addresses it is valid for."""

    @property
    def terms(self) -> dict[str, Any]:
        """What it says, in the form it is written down."""
        return orjson.loads(orjson.dumps(self._asdict()))  # type: ignore[no-any-return]  # a dict, as asdict made it


@dataclass(frozen=True, slots=True)
class Authority:
    """An authority whose key is at hand: whoever holds this can vouch for others. PEM, both."""

    certificate_pem: bytes
    key_pem: bytes = field(repr=False)


class Pki(NamedTuple):
    """The folder that holds them."""

    directory: Path

    def certificate(self, name: str) -> Path:
        return self.directory / f"{name}.crt"

    def key(self, name: str) -> Path:
        return self.directory / f"{name}.key"

    def authority(self, name: str) -> Authority:
        return Authority(self.certificate(name).read_bytes(), self.key(name).read_bytes())


def ensure(directory: Path, wanted: Iterable[Wanted], now: datetime) -> Pki:
    """Issue what is missing, about to expire or no longer says the right thing. Everything else stays as it is.

    In `wanted` issuers come before what they issue. Raises ConfigError if others could read the keys, or if half of
    an authority is gone.
    """
    pki = Pki(directory)
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        _refuse_what_others_can_read(directory)
        due = _due(pki, wanted, now)
        if due:
            _issue(pki, due, now)
    except OSError as cause:
        raise ConfigError(f"{cause.filename or directory} cannot be used for keys: {cause.strerror}") from cause
    return pki


def _refuse_what_others_can_read(directory: Path) -> None:
    for path in (directory, *sorted(directory.glob("*.key"))):
        status = path.stat()
        mode = stat.S_IMODE(status.st_mode)
        if mode & 0o077:
            right = "700" if path == directory else "600"
            raise ConfigError(f"{path} is open to other users (mode {mode:04o}); run: chmod {right} {path}")
        if status.st_uid != os.geteuid():
            raise ConfigError(f"{path} belongs to user {status.st_uid}, not to you; choose another data directory")


def _due(pki: Pki, all_wanted: Iterable[Wanted], now: datetime) -> list[Wanted]:
    record = _read_record(pki)
    due: list[Wanted] = []
    for one in all_wanted:
        if one.use == "authority" and one.file in record:
            _refuse_half(pki, one.file)
        issuer_is_new = any(other.file == one.issuer for other in due)
        if issuer_is_new or not _is_good(pki, one, record.get(one.file), now):
            due.append(one)
    return due


def _refuse_half(pki: Pki, name: str) -> None:
    pair = (pki.certificate(name), pki.key(name))
    missing = [path for path in pair if not path.exists()]
    if len(missing) == 1:
        there = pair[1] if missing[0] == pair[0] else pair[0]
        raise ConfigError(
            f"{missing[0]} is missing beside {there}; restore it, or remove {there} too to start with a new authority"
        )


def _is_good(pki: Pki, one: Wanted, entry: Mapping[str, Any] | None, now: datetime) -> bool:
    return (
        entry is not None
        and entry["terms"] == one.terms
        and datetime.fromisoformat(entry["expires"]) - now > RENEWAL
        and entry["digest"] == _digest(pki, one.file)
    )


def _digest(pki: Pki, name: str) -> str:
    """Tells a pair of files from every other; "" if one of them is not there."""
    digest = hashlib.sha256()
    for path in (pki.certificate(name), pki.key(name)):
        if not path.exists():
            return ""
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _read_record(pki: Pki) -> dict[str, Any]:
    path = pki.directory / _RECORD
    try:
        record = orjson.loads(path.read_bytes())
        _ = [(entry["terms"], datetime.fromisoformat(entry["expires"]), entry["digest"]) for entry in record.values()]
    except FileNotFoundError:
        return {}
    except (ValueError, TypeError, KeyError, AttributeError) as cause:
        raise ConfigError(f"{path} was damaged; remove it to have all certificates issued again") from cause
    return cast(dict[str, Any], record)


def _issue(pki: Pki, due: Iterable[Wanted], now: datetime) -> None:
    # A costly import that most starts do without.
    from hardpoint.serving import issuing

    record = _read_record(pki)
    for one in due:
        issuer = None
        if one.use != "authority":
            issuer = (pki.certificate(one.issuer).read_bytes(), pki.key(one.issuer).read_bytes())
        issued = issuing.issue(one, issuer, now)
        replace_privately(pki.key(one.file), issued.key_pem)
        replace_privately(pki.certificate(one.file), issued.certificate_pem)
        record[one.file] = {
            "terms": one.terms,
            "expires": issued.expires.isoformat(),
            "digest": _digest(pki, one.file),
        }
    # Last, so that whatever a crash left half done is issued again.
    replace_privately(pki.directory / _RECORD, orjson.dumps(record, option=orjson.OPT_INDENT_2))


def replace_privately(path: Path, content: bytes) -> None:
    """Replace a file in one step by one that only its owner can read, durably."""
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    fresh.unlink(missing_ok=True)
    with os.fdopen(os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as opened:
        opened.write(content)
        opened.flush()
        os.fsync(opened.fileno())
    os.replace(fresh, path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
