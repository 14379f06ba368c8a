"""The formats of strings that kube-apiserver knows, `format: date-time` and the like, and how strict it is about each.

Dashes in a format's name do not matter. A name that is not in the table is no format: every string has it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date

from hardpoint.machinery import addresses, durations

Format = Callable[[str], bool]

HOSTNAME_LENGTH_MAX = 255
LABEL_LENGTH_MAX = 63

_URI = re.compile(r"(?:/|[a-zA-Z][a-zA-Z0-9+.-]*:)[^\x00-\x1f\x7f]*")
_AUTHORITY = re.compile(r"[^/:]*://(?:[^@/?]*@)?(?:\[[0-9a-fA-F:.%]*\]|[^:/?\s]*)(?::[0-9]*)?(?:[/?].*)?")
_BAD_ESCAPE = re.compile(r"%(?![0-9a-fA-F]{2})")
_ATOM = r"[^\s()<>\[\]:;@\\,.\"\x00-\x1f\x7f]+"
_SPEC = rf"(?:{_ATOM}(?:\.{_ATOM})*|\"(?:[^\"\\]|\\.)*\")@(?:{_ATOM}(?:\.{_ATOM})*|\[[^\[\]\\]*\])"
_EMAIL = re.compile(rf"\s*(?:{_SPEC}|[^<>@]*<{_SPEC}>)\s*")
_MAC = re.compile(
    r"[0-9a-fA-F]{2}(?:([:-])[0-9a-fA-F]{2})(?:\1[0-9a-fA-F]{2})*|[0-9a-fA-F]{4}(?:\.[0-9a-fA-F]{4})+|[0-9a-fA-F]+"
)
_MAC_DIGITS = frozenset((12, 16, 40))
_TIME = re.compile(r"([0-9]{2}):([0-9]{2}):([0-9]{2})(?:.[0-9]+)?(?:z|[+-][0-9]{2}:[0-9]{2})")
_SCALA_DURATION = re.compile(r"([0-9]+)\s*([A-Za-zµ]+)")
_DAY = 24 * durations.NANOSECONDS["h"]
_SCALA_UNITS = {**durations.NANOSECONDS, "hr": _DAY // 24, "d": _DAY, "w": 7 * _DAY, "wk": 7 * _DAY}
_SCALA_PREFIXES = {
    "nano": "ns",
    "micro": "us",
    "milli": "ms",
    "sec": "s",
    "min": "m",
    "hour": "h",
    "day": "d",
    "week": "w",
}
_INT64_DIGITS = 19
_CARD = re.compile(
    r"4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}"
    r"|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35[0-9]{3})[0-9]{11}"
)
_SHADE = r"\s*(?:0|[1-9][0-9]?|1[0-9]{1,2}|2[0-4][0-9]|25[0-5])\s*"
_DIGITS = frozenset("0123456789")
_NAME = r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"


def _pattern(pattern: str, *, length_max: int = 0) -> Format:
    whole = re.compile(pattern)
    return lambda text: whole.fullmatch(text) is not None and (not length_max or len(text) <= length_max)


def _uuid(version: str, variant: str) -> Format:
    digit = "[0-9a-fA-F]"
    return _pattern(f"{digit}{{8}}-?{digit}{{4}}-?{version}{digit}{{3}}-?{variant}{digit}{{3}}-?{digit}{{12}}")


def _uri(text: str) -> bool:
    """What a request line may have: an absolute path, or a scheme and whatever follows."""
    if _URI.fullmatch(text) is None or _BAD_ESCAPE.search(text):
        return False
    has_host = text.partition("/")[2].startswith("/") and not text.startswith("/")
    return not has_host or _AUTHORITY.fullmatch(text) is not None


def _hostname(text: str) -> bool:
    labels = text.split(".")
    if len(text.encode()) > HOSTNAME_LENGTH_MAX or any(len(label.encode()) > LABEL_LENGTH_MAX for label in labels):
        return False
    if len(labels) == 1:
        # A name without a domain has its one dash second or not at all.
        return _is_label(text[:1]) and (len(text) == 1 or _is_word(text[1:].removeprefix("-")))
    return all(map(_is_label, labels[:-1])) and len(labels[-1]) > 1 and all(map(_is_letter, labels[-1]))


def _is_label(label: str) -> bool:
    return _is_word(label.replace("-", "")) and not label.startswith("-") and not label.endswith("-")


def _is_word(text: str) -> bool:
    return text != "" and all(each in _DIGITS or _is_letter(each) or _is_symbol(each) for each in text)


def _is_letter(character: str) -> bool:
    return character.isalpha()


def _is_symbol(character: str) -> bool:
    import unicodedata  # Names are mostly ASCII.

    return unicodedata.category(character).startswith("S")


def _ipv4(text: str) -> bool:
    return "." in text and addresses.parse_ip(text) is not None


def _ipv6(text: str) -> bool:
    return ":" in text and addresses.parse_ip(text) is not None


def _cidr(text: str) -> bool:
    return addresses.parse_cidr(text) is not None


def _mac(text: str) -> bool:
    return _MAC.fullmatch(text) is not None and len(re.sub(r"[^0-9a-fA-F]", "", text)) in _MAC_DIGITS


def _isbn10(text: str) -> bool:
    digits = re.sub(r"[\s-]+", "", text)
    if re.fullmatch(r"[0-9]{9}[0-9X]", digits) is None:
        return False
    return sum((place + 1) * (10 if each == "X" else int(each)) for place, each in enumerate(digits)) % 11 == 0


def _isbn13(text: str) -> bool:
    digits = re.sub(r"[\s-]+", "", text)
    if re.fullmatch(r"[0-9]{13}", digits) is None:
        return False
    return sum((3 if place % 2 else 1) * int(each) for place, each in enumerate(digits)) % 10 == 0


def _credit_card(text: str) -> bool:
    digits = re.sub(r"[^0-9]+", "", text)
    if _CARD.fullmatch(digits) is None:
        return False
    doubled = [int(each) * (2 if place % 2 else 1) for place, each in enumerate(reversed(digits))]
    return sum(each // 10 + each % 10 for each in doubled) % 10 == 0


def _date(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return len(text) == len("2006-01-02") and text.isascii()


def _date_time(text: str) -> bool:
    day, _, rest = text.lower().partition("t")
    found = _TIME.fullmatch(rest.partition("t")[0])
    return _date(day) and found is not None and found[1] <= "23" and found[2] <= "59" and found[3] <= "59"


def duration_nanoseconds(text: str) -> int | None:
    """A length of time in Go's notation or in Scala's, `3 days`; None if it is neither."""
    try:
        return durations.parse(text)
    except durations.BadDuration:
        found = _SCALA_DURATION.findall(text)
    if any(len(number) > _INT64_DIGITS for number, _ in found):
        return None
    known = [int(number) * unit for number, name in found if (unit := _scala_unit(name.lower())) is not None]
    return sum(known) if known else None


def _scala_unit(unit: str) -> int | None:
    if unit in _SCALA_UNITS:
        return _SCALA_UNITS[unit]
    return next((_SCALA_UNITS[short] for prefix, short in _SCALA_PREFIXES.items() if unit.startswith(prefix)), None)


def _duration(text: str) -> bool:
    return duration_nanoseconds(text) is not None


FORMATS: Mapping[str, Format] = {
    "bsonobjectid": _pattern("[0-9a-fA-F]{24}"),
    "byte": _pattern("(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})"),
    "cidr": _cidr,
    "creditcard": _credit_card,
    "date": _date,
    "datetime": _date_time,
    "duration": _duration,
    "email": lambda text: _EMAIL.fullmatch(text) is not None,
    "hexcolor": _pattern("#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})"),
    "hostname": _hostname,
    "ipv4": _ipv4,
    "ipv6": _ipv6,
    "isbn": lambda text: _isbn10(text) or _isbn13(text),
    "isbn10": _isbn10,
    "isbn13": _isbn13,
    "k8slongname": _pattern(rf"{_NAME}(?:\.{_NAME})*", length_max=253),
    "k8sshortname": _pattern(_NAME, length_max=63),
    "mac": _mac,
    "password": lambda text: True,
    "rgbcolor": _pattern(rf"rgb\({_SHADE},{_SHADE},{_SHADE}\)"),
    "ssn": _pattern("[0-9]{3}[- ][0-9]{2}[- ][0-9]{4}"),
    "uri": _uri,
    "uuid": _uuid("[0-9a-fA-F]", "[0-9a-fA-F]"),
    "uuid3": _uuid("3", "[0-9a-fA-F]"),
    "uuid4": _uuid("4", "[89abAB]"),
    "uuid5": _uuid("5", "[89abAB]"),
}


def find(name: str) -> Format | None:
    """The check of a format, or None where there is no such format."""
    return FORMATS.get(name.replace("-", ""))
