"""Schemas and descriptions, against the recorded ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from hardpoint.apiserver.openapi.descriptions import Descriptions

Json = dict[str, Any]


def test_the_same_documents_hold_the_same_schemas(
    documents: dict[str, Json], recorded: dict[str, dict[str, Json]]
) -> None:
    assert documents.keys() == recorded.keys()
    for path, schemas in recorded.items():
        assert documents[path]["components"]["schemas"].keys() == schemas.keys(), path


def test_schemas_say_what_the_recorded_ones_say(
    documents: dict[str, Json], recorded: dict[str, dict[str, Json]]
) -> None:
    facts = [
        (f"{path} {place}", ours, theirs)
        for path, schemas in recorded.items()
        for place, ours, theirs in _pairs(documents[path]["components"]["schemas"], schemas)
    ]
    wrong = [fact for fact in facts if fact[1] != fact[2]]
    assert len(facts) > 6000
    assert not wrong


def test_descriptions_are_the_recorded_ones(recorded: dict[str, dict[str, Json]]) -> None:
    """Apart from white space, the meaning of enum values, and the dozen types that have our own words."""
    descriptions = Descriptions()
    pairs = []
    for name, schema in {name: one for schemas in recorded.values() for name, one in schemas.items()}.items():
        ours = descriptions.of(name)
        pairs.append((ours.text, schema.get("description", "")))
        for field, one in schema.get("properties", {}).items():
            pairs.append((ours.fields.get(field, ""), one.get("description", "")))
    same = sum(_words(ours) == _words(theirs.partition("Possible enum values")[0]) for ours, theirs in pairs)
    assert len(pairs) > 3000
    assert same / len(pairs) > 0.99


@pytest.mark.parametrize(
    ("shape", "text"),
    [
        ("api.core.v1.Affinity", "Affinity is a group of affinity scheduling rules."),
        ("apimachinery.pkg.apis.meta.v1.Time", "A time in RFC 3339 form."),
        ("api.core.v1.NoSuchThing", ""),
        ("api.nowhere.v1.Thing", ""),
    ],
)
def test_types_are_described(shape: str, text: str) -> None:
    assert Descriptions().of(shape).text == text


def test_paragraphs_and_lists_survive_unwrapping() -> None:
    described = Descriptions().of("api.core.v1.PodSecurityContext").fields["fsGroup"]
    assert "owned by the pod:\n\n1. The owning GID" in described
    assert "\n  Localhost - " in Descriptions().of("api.core.v1.AppArmorProfile").fields["type"]


def _pairs(ours: dict[str, Json], theirs: dict[str, Json]) -> Iterator[tuple[str, Any, Any]]:
    """What both say of each schema and of each property, apart from descriptions."""
    for name, schema in theirs.items():
        own = _undescribed(ours[name])
        wanted = _undescribed(schema)
        own_properties = own.pop("properties", {})
        wanted_properties = wanted.pop("properties", {})
        yield name, own, wanted
        for field in own_properties.keys() | wanted_properties.keys():
            one, other = own_properties.get(field), wanted_properties.get(field)
            yield f"{name}.{field}", one and _undescribed(one), other and _undescribed(other)


def _undescribed(schema: Json) -> Json:
    said = {key: value for key, value in schema.items() if key != "description"}
    return {**said, "required": sorted(said["required"])} if "required" in said else said


def _words(text: str) -> list[str]:
    return text.split()
