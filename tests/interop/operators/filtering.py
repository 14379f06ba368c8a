"""Handlers that are about some notes only; those that were called say so in the status."""

from typing import Any

import kopf


def is_loud(value: str | None, **_: Any) -> bool:
    return (value or "").isupper()


@kopf.on.create("notes", labels={"kind": "letter"})
def is_a_letter(**_: Any) -> str:
    return "yes"


@kopf.on.create("notes", labels={"kind": kopf.PRESENT})
def has_a_kind(**_: Any) -> str:
    return "yes"


@kopf.on.create("notes", annotations={"secret": kopf.ABSENT})
def is_public(**_: Any) -> str:
    return "yes"


@kopf.on.create("notes", annotations={"voice": is_loud})
def is_shouted(**_: Any) -> str:
    return "yes"


@kopf.on.create("notes", field="spec.text", value="hi")
def is_short(**_: Any) -> str:
    return "yes"


@kopf.on.create("notes", when=lambda spec, **_: spec.get("text") == "never")
def is_never(**_: Any) -> str:
    return "yes"


@kopf.on.update("notes", field="spec.text", old="hi", new="ho")
def has_changed(**_: Any) -> str:
    return "yes"
