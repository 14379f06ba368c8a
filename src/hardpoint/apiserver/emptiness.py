"""Nothing and an empty list or map are one to us; to Go they are two, and an error that shows a field tells which.

Objects lose what is empty when they are decoded. Where a refusal then shows `null`, the body the client sent is asked
what stood there. This costs nothing where nothing is refused.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from hardpoint.machinery.fielderrors import FieldError
from hardpoint.machinery.validation.rules import IMMUTABLE

# The rules of an Ingress are shown under the name of the whole.
_SHOWN_AS = {"spec": "spec.rules"}
_STEP = re.compile(r"([^.\[\]]+)|\[([^\]]*)\]")


def as_given(wrong: Sequence[FieldError], body: Any) -> list[FieldError]:
    """The same errors; those that show `null` show what the client wrote there if it was an empty list or map."""
    return [_as_given(error, body) if _shows_nothing(error) else error for error in wrong]


def _shows_nothing(error: FieldError) -> bool:
    """Many refusals to change a field show no value on purpose."""
    return error.shown == "null" and error.detail != IMMUTABLE


def _as_given(error: FieldError, body: Any) -> FieldError:
    found = body
    for name, key in _STEP.findall(_SHOWN_AS.get(error.field, error.field)):
        found = _step(found, name or key)
    if found == {} or found == []:
        return error._replace(shown=str(found))
    return error


def _step(place: Any, step: str) -> Any:
    if isinstance(place, dict):
        return place.get(step)
    if isinstance(place, list) and step.isdigit() and int(step) < len(place):
        return place[int(step)]
    return None
