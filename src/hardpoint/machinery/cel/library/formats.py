"""Named formats of texts: `format.dns1123Label().validate(name)` gives what is wrong, or nothing."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from hardpoint.machinery import names
from hardpoint.machinery.cel.costs import regex
from hardpoint.machinery.cel.errors import EvaluationError
from hardpoint.machinery.cel.functions import Overload, function, member
from hardpoint.machinery.cel.instants import parse_timestamp
from hardpoint.machinery.cel.library import urls
from hardpoint.machinery.cel.types import STRING, list_of, opaque, optional_of
from hardpoint.machinery.cel.values import NONE, Opaque, Optional, size_of

FORMAT = opaque("kubernetes.NamedFormat")
_UUID = re.compile("[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Format(Opaque):
    type_name = FORMAT.name

    name: str
    problems: Callable[[str], list[str]]
    pattern_size: int
    """How long a pattern for it would be, which is what checking it costs."""


def _prefix(problems: Callable[[str], list[str]]) -> Callable[[str], list[str]]:
    return lambda text: problems(names.without_trailing_dash(text))


def _uri(text: str) -> list[str]:
    try:
        urls.parse(text)
    except EvaluationError as wrong:
        return [str(wrong).partition(": ")[2]]
    return []


def _uuid(text: str) -> list[str]:
    return [] if _UUID.fullmatch(text) else ["does not match the UUID format"]


def _byte(text: str) -> list[str]:
    try:
        base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return ["invalid base64"]
    return []


def _moment(text: str, complaint: str) -> list[str]:
    try:
        parse_timestamp(text)
    except EvaluationError:
        return [complaint]
    return []


FORMATS = {
    "dns1123Label": Format("DNS1123Label", names.dns_label, 30),
    "dns1123Subdomain": Format("DNS1123Subdomain", names.dns_subdomain, 60),
    "dns1035Label": Format("DNS1035Label", names.dns_1035_label, 30),
    "qualifiedName": Format("QualifiedName", names.label_key, 60),
    "dns1123LabelPrefix": Format("DNS1123LabelPrefix", _prefix(names.dns_label), 30),
    "dns1123SubdomainPrefix": Format("DNS1123SubdomainPrefix", _prefix(names.dns_subdomain), 60),
    "dns1035LabelPrefix": Format("DNS1035LabelPrefix", _prefix(names.dns_1035_label), 30),
    "labelValue": Format("LabelValue", names.label_value, 40),
    "uri": Format("URI", _uri, 1104),
    "uuid": Format("uuid", _uuid, 72),
    "byte": Format("byte", _byte, 84),
    "date": Format("date", lambda text: _moment(f"{text}T00:00:00Z", "invalid date"), 72),
    "datetime": Format("datetime", lambda text: _moment(text, "invalid datetime"), 72),
}


def _validate(format: Format, text: str) -> Optional:
    problems = format.problems(text)
    return Optional(problems) if problems else NONE


def _named(name: str) -> Optional:
    return Optional(FORMATS[name]) if name in FORMATS else NONE


def _cost(arguments: Sequence[Any]) -> int:
    return regex(size_of(arguments[1]), arguments[0].pattern_size)


def _constant(name: str, format: Format) -> Overload:
    return function(f"format.{name}", (), FORMAT, lambda: format)


OVERLOADS = (
    *(_constant(name, format) for name, format in FORMATS.items()),
    function("format.named", (STRING,), optional_of(FORMAT), _named),
    member("validate", (FORMAT, STRING), optional_of(list_of(STRING)), _validate, cost=_cost),
)
