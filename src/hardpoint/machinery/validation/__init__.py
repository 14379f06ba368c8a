"""What makes an object of a built-in kind invalid.

Each module exports `CREATE`, from Kind to a function of the object, and `UPDATE`, of the new and the old object; each
returns every FieldError it finds, in the order kube-apiserver tells them. It is imported when the first object of
such a kind arrives. Object metadata is checked here for every kind alike; see `metadata.py`. A module may export
`NAMES`, from Kind to a function of the object that returns what is wrong with its name, where the rest of the object
decides, and `SUBRESOURCES`, from Kind to functions like those in `UPDATE`, one a subresource with rules of its own.

Rules in CEL of custom kinds may take a while: then these functions raise Costly, unless `is_patient`.
"""

from __future__ import annotations

from typing import Any

from hardpoint.machinery.areas import rule
from hardpoint.machinery.fielderrors import FieldError
from hardpoint.machinery.kinds import Kind
from hardpoint.machinery.validation import metadata

Json = dict[str, Any]


def on_create(kind: Kind, obj: Json, *, is_patient: bool = False) -> list[FieldError]:
    """Everything wrong with a new object: first its metadata, then what its kind asks for."""
    errors = metadata.on_create(kind, obj)
    check = rule("validation", "CREATE", kind)
    if check is not None:
        errors.extend(check(obj))
    return _judged(kind, obj, None, errors, is_patient)


def of_kind(kind: Kind, obj: Json) -> list[FieldError]:
    """What is wrong with an object that has no life of its own, a review for one: its metadata does not matter."""
    check = rule("validation", "CREATE", kind)
    return list(check(obj)) if check is not None else []


def on_part_update(kind: Kind, part: str, obj: Json, old: Json, *, is_patient: bool = False) -> list[FieldError]:
    """What is wrong with replacing `old` by `obj` where only the part a subresource stands for could change."""
    errors = metadata.on_update(kind, obj, old)
    check = (rule("validation", "SUBRESOURCES", kind) or {}).get(part)
    if check is not None:
        errors.extend(check(obj, old))
    return _judged(kind, obj, old, errors, is_patient)


def on_update(kind: Kind, obj: Json, old: Json, *, is_patient: bool = False) -> list[FieldError]:
    """Everything wrong with replacing `old` by `obj`."""
    errors = metadata.on_update(kind, obj, old)
    errors.extend(metadata.finalizers(kind, obj))
    check = rule("validation", "UPDATE", kind)
    if check is not None:
        errors.extend(check(obj, old))
    return _judged(kind, obj, old, errors, is_patient)


def _judged(kind: Kind, obj: Json, old: Json | None, errors: list[FieldError], is_patient: bool) -> list[FieldError]:
    """The errors, and what the rules in CEL of a custom kind add to them: those come last, and know the others."""
    if kind.structure is not None:
        errors.extend(kind.structure.judge(obj, old, errors, is_patient=is_patient))
    return errors
