"""Values made up for a schema fit it, and are the same for the same seed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardpoint.machinery.structural import Structure, formats, patterns
from hardpoint.machinery.structural.samples import Sampler
from hardpoint.machinery.structural.sampletexts import text

Json = dict[str, Any]

ITEM: Json = {
    "type": "object",
    "required": ["name"],
    "properties": {"name": {"type": "string", "enum": ["a", "b", "c"]}},
}
SPEC: Json = {
    "type": "object",
    "required": ["cron", "steps"],
    "properties": {
        "cron": {"type": "string", "pattern": r"^(\d+|\*)(/\d+)?( (\d+|\*)(/\d+)?){4}$"},
        "replicas": {"type": "integer", "minimum": 1, "maximum": 10, "default": 3},
        "share": {"type": "number", "minimum": 0, "maximum": 1, "exclusiveMaximum": True, "multipleOf": 0.25},
        "port": {"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}]},
        "steps": {
            "type": "array",
            "minItems": 1,
            "maxItems": 3,
            "items": ITEM,
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"],
        },
        "labels": {"type": "object", "additionalProperties": {"type": "string", "maxLength": 5}, "maxProperties": 1},
        "at": {"type": "string", "format": "date-time", "nullable": True},
        "template": {
            "type": "object",
            "x-kubernetes-embedded-resource": True,
            "x-kubernetes-preserve-unknown-fields": True,
        },
    },
}
SCHEMA: Json = {"type": "object", "required": ["spec"], "properties": {"spec": SPEC}}


@given(st.integers(), st.floats(0, 1), st.booleans())
def test_what_is_made_up_fits(seed: int, fullness: float, odd: bool) -> None:
    made = Sampler(SCHEMA, seed=seed, fullness=fullness, odd=odd).object("example.com/v1", "Thing", "a")
    structure = Structure(SCHEMA)
    assert structure.rules["validation", "CREATE"](made) == []
    assert structure.unknown_fields(made) == []
    assert made == Sampler(SCHEMA, seed=seed, fullness=fullness, odd=odd).object("example.com/v1", "Thing", "a")


def test_fullness_decides_how_much_is_said() -> None:
    least = Sampler(SCHEMA, fullness=0.0).object("example.com/v1", "Thing", "a")["spec"]
    most = Sampler(SCHEMA, fullness=1.0).object("example.com/v1", "Thing", "a")["spec"]
    assert set(least) == {"cron", "steps"}
    assert set(most) == set(SPEC["properties"])


@pytest.mark.parametrize("name", sorted(formats.FORMATS))
def test_every_format_has_a_text(name: str) -> None:
    import random

    assert formats.FORMATS[name](text({"type": "string", "format": name}, random.Random(1)))


@pytest.mark.parametrize(
    "pattern",
    [
        r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
        r"^(0|[1-9][0-9]*)(\.[0-9]+)?(Ki|Mi|Gi)?$",
        r"^arn:aws:iam::\d{12}:role/.+$",
        r"^[^/\s]+/[^/\s]+$",
        r"^\S+$",
        r"a{3}",
        r"^(?:https?)://\w+$",
        r"^[A-Z]{2,3}-\d+$",
    ],
)
@given(seed=st.integers())
def test_texts_match_their_pattern(pattern: str, seed: int) -> None:
    import random

    assert patterns.matches(pattern, text({"type": "string", "pattern": pattern}, random.Random(seed)))
