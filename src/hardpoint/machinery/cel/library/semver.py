"""Versions after semver.org: `semver('1.2.3').isLessThan(semver('1.10.0'))`."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from hardpoint.machinery.cel.costs import reads
from hardpoint.machinery.cel.errors import EvaluationError
from hardpoint.machinery.cel.functions import function, member
from hardpoint.machinery.cel.types import BOOL, INT, STRING, opaque
from hardpoint.machinery.cel.values import Opaque
from hardpoint.machinery.remembering import remembered

SEMVER = opaque("kubernetes.Semver")
_NUMBER = re.compile("[0-9]+")
_WORD = re.compile("[0-9A-Za-z-]+")
_UINT_MAX = 2**64 - 1
_LENGTH_MAX = 10_000


@dataclass(frozen=True, slots=True)
class Version(Opaque):
    type_name = SEMVER.name

    major: int
    minor: int
    patch: int
    pre: tuple[int | str, ...] = ()
    build: tuple[str, ...] = field(default=(), compare=False)

    def compare(self, other: Version) -> int:
        """-1, 0 or 1. A version that is not finished yet comes before the finished one; builds do not count."""
        mine, theirs = (self.major, self.minor, self.patch), (other.major, other.minor, other.patch)
        if mine != theirs:
            return 1 if mine > theirs else -1
        if not self.pre or not other.pre:
            return bool(other.pre) - bool(self.pre)
        one, two = [_ranked(part) for part in self.pre], [_ranked(part) for part in other.pre]
        return (one > two) - (one < two)


def _ranked(part: int | str) -> tuple[int, int, str]:
    """Numbers come before words."""
    return (0, part, "") if isinstance(part, int) else (1, 0, part)


@remembered(count=1024)
def parse(text: str) -> Version:
    """Raises EvaluationError."""
    if not text:
        raise EvaluationError("Version string empty")
    if len(text) > _LENGTH_MAX:
        raise EvaluationError("Version string too long")
    numbers, plus, build = text.partition("+")
    numbers, dash, pre = numbers.partition("-")
    parts = numbers.split(".", 2)
    if len(parts) != 3:
        raise EvaluationError("No Major.Minor.Patch elements found")
    major, minor, patch = (_number(name, part) for name, part in zip(("Major", "Minor", "Patch"), parts, strict=True))
    return Version(
        major,
        minor,
        patch,
        tuple(_pre_release(part) for part in pre.split(".")) if dash else (),
        tuple(_build(part) for part in build.split(".")) if plus else (),
    )


def _number(name: str, part: str) -> int:
    if not _NUMBER.fullmatch(part):
        raise EvaluationError(f'Invalid character(s) found in {name.lower()} number "{part}"')
    if len(part) > 1 and part.startswith("0"):
        raise EvaluationError(f'{name} number must not contain leading zeroes "{part}"')
    if len(part) > 20 or int(part) > _UINT_MAX:
        raise EvaluationError(f'strconv.ParseUint: parsing "{part}": value out of range')
    return int(part)


def _pre_release(part: str) -> int | str:
    if not part:
        raise EvaluationError("Prerelease is empty")
    if _NUMBER.fullmatch(part):
        if len(part) > 1 and part.startswith("0"):
            raise EvaluationError(f'Numeric PreRelease version must not contain leading zeroes "{part}"')
        return int(part[:21])
    if not _WORD.fullmatch(part):
        raise EvaluationError(f'Invalid character(s) found in prerelease "{part}"')
    return part


def _build(part: str) -> str:
    if not part:
        raise EvaluationError("Build meta data is empty")
    if not _WORD.fullmatch(part):
        raise EvaluationError(f'Invalid character(s) found in build meta data "{part}"')
    return part


def normalized(text: str) -> str:
    """`v1.02` is taken for `1.2.0`: without a v, without leading zeros, with all three numbers."""
    parts = [_without_zeros(part) for part in text.removeprefix("v").split(".", 2)]
    if len(parts) < 3:
        if "+" in parts[-1] or "-" in parts[-1]:
            raise EvaluationError("short version cannot contain PreRelease/Build meta data")
        parts += ["0"] * (3 - len(parts))
    return ".".join(parts)


def _without_zeros(part: str) -> str:
    if len(part) <= 1:
        return part
    stripped = part.lstrip("0")
    return stripped if stripped[:1] in tuple("0123456789") else f"0{stripped}"


def _parse(text: str, normalize: bool = False) -> Version:
    return parse(normalized(text) if normalize else text)


def _is_semver(text: str, normalize: bool = False) -> bool:
    try:
        _parse(text, normalize)
    except EvaluationError:
        return False
    return True


_TWO = (SEMVER, SEMVER)
OVERLOADS = (
    function("semver", (STRING,), SEMVER, _parse, cost=(_COST := reads(0))),
    function("semver", (STRING, BOOL), SEMVER, _parse, cost=_COST),
    function("isSemver", (STRING,), BOOL, _is_semver, cost=_COST),
    function("isSemver", (STRING, BOOL), BOOL, _is_semver, cost=_COST),
    member("isGreaterThan", _TWO, BOOL, lambda one, other: one.compare(other) > 0),
    member("isLessThan", _TWO, BOOL, lambda one, other: one.compare(other) < 0),
    member("compareTo", _TWO, INT, Version.compare),
    member("major", (SEMVER,), INT, lambda version: version.major),
    member("minor", (SEMVER,), INT, lambda version: version.minor),
    member("patch", (SEMVER,), INT, lambda version: version.patch),
)
