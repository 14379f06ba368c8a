"""How the rules in CEL of a CRD's schema are written: their words, reasons and paths.

Whether their expressions compile and are cheap enough is `apiextensions_costs`' business.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hardpoint.machinery.fielderrors import FieldError, at, invalid, not_supported, required
from hardpoint.machinery.structural.fieldpaths import BadPath, follow
from hardpoint.machinery.structural.keywords import RULES
from hardpoint.machinery.validation import apiextensions_structural

Json = dict[str, Any]

REASONS = ("FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired")


def wording(path: str, schema: Json) -> Iterator[FieldError]:
    """What is wrong with how the rules of a schema are written, whatever their expressions say."""
    for index, rule in enumerate(schema.get(RULES) or ()):
        place = at(f"{path}.{RULES}", index)
        yield from _message(place, rule)
        if rule.get("messageExpression") and not rule["messageExpression"].strip():
            yield required(f"{place}.messageExpression", "messageExpression must be non-empty if specified")
        if rule.get("reason") is not None and rule["reason"] not in REASONS:
            yield not_supported(f"{place}.reason", rule["reason"], REASONS)
        yield from _field_path(f"{place}.fieldPath", rule.get("fieldPath", ""), schema)


def _message(place: str, rule: Json) -> Iterator[FieldError]:
    expression, message = rule.get("rule", "").strip(), rule.get("message", "")
    if not expression:
        yield required(f"{place}.rule", "rule is not specified")
    elif message and not message.strip():
        yield invalid(f"{place}.message", message, "must be non-empty if specified")
    elif _has_line_breaks(message.strip()):
        yield invalid(f"{place}.message", message, "must not contain line breaks")
    elif _has_line_breaks(expression) and not message.strip():
        yield required(f"{place}.message", "message must be specified if rule contains line breaks")


def _field_path(path: str, value: str, schema: Json) -> Iterator[FieldError]:
    if not value:
        return
    if not value.strip():
        yield invalid(path, value, "must be non-empty if specified")
    if _has_line_breaks(value):
        yield invalid(path, value, "must not contain line breaks")
    if not apiextensions_structural.is_convertible(schema):
        return
    try:
        follow(schema, value)
    except BadPath:
        yield invalid(path, value, "must be a valid path")


def _has_line_breaks(text: str) -> bool:
    return "\n" in text or "\r" in text
