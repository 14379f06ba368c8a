"""Schemas from classes: what each type becomes, that the API server takes them, and what cannot be said."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from ipaddress import IPv4Address, IPv6Address, IPv6Network
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal
from uuid import UUID, uuid4

import pytest
from hypothesis import given, settings
from pydantic import AnyUrl, BaseModel, ConfigDict, Field, RootModel, create_model, field_validator
from typing_extensions import TypedDict

from hardpoint.crd import (
    Atomic,
    EmbeddedResource,
    Int32,
    Int64,
    IntOrString,
    MapKeys,
    MicroTime,
    Nullable,
    PreserveUnknown,
    Quantity,
    Resource,
    Rule,
    Unique,
)
from hardpoint.machinery.structural import Structure
from hardpoint.seams.crd.guest.definition import Declared, definitions
from hardpoint.seams.crd.guest.wire import NotStructural
from tests.seams.crd.crontabs import CronTab, Plain, Port
from tests.seams.crd.models import models

Json = dict[str, Any]
PRESERVE = {"x-kubernetes-preserve-unknown-fields": True}
RULE = {"rule": "self > 0", "message": "positive"}


class Level(enum.IntEnum):
    """How loud."""

    LOW = 1
    HIGH = 2


class Inner(BaseModel):
    """Inside."""

    x_y: int = 1


class Ruled(BaseModel):
    model_config = ConfigDict(json_schema_extra={"minProperties": 1})
    rules: ClassVar[list[Rule]] = [Rule("has(self.a)", "a is needed", reason="FieldValueRequired")]
    a: str | None = None


class Names(RootModel[list[str]]):
    pass


@dataclasses.dataclass
class Point:
    x: int
    y: int = 0


INNER = {"type": "object", "description": "Inside.", "properties": {"xY": {"type": "integer", "default": 1}}}


def schema_of(hint: Any, default: Any = ...) -> Json:
    """The schema of one field of that type, and whether it is required."""
    spec = create_model("Spec", field=(hint, default))
    cls = type("Thing", (Resource,), {"Spec": spec, "__module__": __name__})
    schema: Json = cls.codec().schema["properties"]["spec"]
    return schema["properties"]["field"] | ({} if "field" in schema.get("required", ()) else {"optional": True})


@pytest.mark.parametrize(
    ("hint", "schema"),
    [
        (str, {"type": "string"}),
        (int, {"type": "integer"}),
        (float, {"type": "number"}),
        (bool, {"type": "boolean"}),
        (Int32, {"type": "integer", "format": "int32"}),
        (Int64, {"type": "integer", "format": "int64"}),
        (datetime, {"type": "string", "format": "date-time"}),
        (MicroTime, {"type": "string", "format": "date-time"}),
        (date, {"type": "string", "format": "date"}),
        (timedelta, {"type": "string", "format": "duration"}),
        (UUID, {"type": "string", "format": "uuid"}),
        (IPv4Address, {"type": "string", "format": "ipv4"}),
        (IPv6Address, {"type": "string", "format": "ipv6"}),
        (IPv6Network, {"type": "string", "format": "cidr"}),
        (AnyUrl, {"type": "string", "format": "uri", "minLength": 1}),
        (Path, {"type": "string"}),
        (bytes, {"type": "string", "format": "byte"}),
        (Decimal, {"type": "string", "pattern": r"^[+-]?[0-9]+(\.[0-9]+)?$"}),
        (IntOrString, {"x-kubernetes-int-or-string": True}),
        (int | str, {"x-kubernetes-int-or-string": True}),
        (Any, PRESERVE),
        (dict, {"type": "object", **PRESERVE}),
        (dict[str, Any], {"type": "object", **PRESERVE}),
        (dict[str, int], {"type": "object", "additionalProperties": {"type": "integer"}}),
        (list, {"type": "array", "items": PRESERVE}),
        (list[Any], {"type": "array", "items": PRESERVE}),
        (list[str], {"type": "array", "items": {"type": "string"}}),
        (list[int | None], {"type": "array", "items": {"type": "integer", "nullable": True}}),
        (tuple[int, ...], {"type": "array", "items": {"type": "integer"}}),
        (set[str], {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"}),
        (frozenset[int], {"type": "array", "items": {"type": "integer"}, "x-kubernetes-list-type": "set"}),
        (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}),
        (Literal["a"], {"type": "string", "enum": ["a"]}),
        (Literal[1, 2], {"type": "integer", "enum": [1, 2]}),
        (Level, {"type": "integer", "enum": [1, 2], "description": "How loud."}),
        (int | None, {"type": "integer", "nullable": True}),
        (Inner, INNER),
        (list[Inner], {"type": "array", "items": INNER}),
        (dict[str, Inner], {"type": "object", "additionalProperties": INNER}),
        (Names, {"type": "array", "items": {"type": "string"}}),
        (
            Point,
            {
                "type": "object",
                "required": ["x"],
                "properties": {"x": {"type": "integer"}, "y": {"type": "integer", "default": 0}},
            },
        ),
        (
            Ruled,
            {
                "type": "object",
                "properties": {"a": {"type": "string"}},
                "minProperties": 1,
                "x-kubernetes-validations": [
                    {"rule": "has(self.a)", "message": "a is needed", "reason": "FieldValueRequired"}
                ],
            },
        ),
        (Annotated[int, Field(ge=1, le=9)], {"type": "integer", "minimum": 1, "maximum": 9}),
        (
            Annotated[float, Field(gt=0, lt=1)],
            {"type": "number", "minimum": 0, "exclusiveMinimum": True, "maximum": 1, "exclusiveMaximum": True},
        ),
        (Annotated[int, Field(multiple_of=5)], {"type": "integer", "multipleOf": 5}),
        (
            Annotated[str, Field(min_length=1, max_length=9, pattern="^a")],
            {"type": "string", "minLength": 1, "maxLength": 9, "pattern": "^a"},
        ),
        (
            Annotated[list[str], Field(min_length=1, max_length=9)],
            {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 9},
        ),
        (
            Annotated[dict[str, str], Field(min_length=1, max_length=9)],
            {"type": "object", "additionalProperties": {"type": "string"}, "minProperties": 1, "maxProperties": 9},
        ),
        (Annotated[str, Field(description="Words.")], {"type": "string", "description": "Words."}),
        (
            list[Annotated[IPv4Address, Field(description="Words.")]],
            {"type": "array", "items": {"type": "string", "format": "ipv4", "description": "Words."}},
        ),
        (Annotated[str, Field(title="T", examples=["x"])], {"type": "string"}),
        (Annotated[str, Field(json_schema_extra={"format": "hostname"})], {"type": "string", "format": "hostname"}),
        (Annotated[int, Rule("self > 0", "positive")], {"type": "integer", "x-kubernetes-validations": [RULE]}),
        (
            Annotated[datetime, Rule("self > 0", "positive")],
            {"type": "string", "format": "date-time", "x-kubernetes-validations": [RULE]},
        ),
        (
            Annotated[bytes, Rule("self > 0", "positive")],
            {"type": "string", "format": "byte", "x-kubernetes-validations": [RULE]},
        ),
        (Annotated[Any, Rule("self > 0", "positive")], {**PRESERVE, "x-kubernetes-validations": [RULE]}),
        (
            list[Annotated[int, Rule("self > 0", "positive")]],
            {"type": "array", "items": {"type": "integer", "x-kubernetes-validations": [RULE]}},
        ),
        (
            Annotated[list[Port], MapKeys("name")],
            {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]},
        ),
        (
            Annotated[list[int], Unique()],
            {"type": "array", "items": {"type": "integer"}, "x-kubernetes-list-type": "set"},
        ),
        (
            Annotated[list[int], Atomic()],
            {"type": "array", "items": {"type": "integer"}, "x-kubernetes-list-type": "atomic"},
        ),
        (Annotated[Inner, Atomic()], {**INNER, "x-kubernetes-map-type": "atomic"}),
        (Annotated[Inner, PreserveUnknown()], {**INNER, **PRESERVE}),
        (
            Annotated[dict[str, Any], EmbeddedResource()],
            {"type": "object", **PRESERVE, "x-kubernetes-embedded-resource": True},
        ),
    ],
)
def test_a_type_has_its_schema(hint: Any, schema: Json) -> None:
    found = schema_of(hint)
    if "x-kubernetes-list-map-keys" in schema:
        assert found.pop("items")["required"] == ["name", "number"]
    assert found == schema


def test_a_quantity_is_a_number_or_a_text_with_a_pattern() -> None:
    assert set(schema_of(Quantity)) == {"x-kubernetes-int-or-string", "pattern"}


@pytest.mark.parametrize(
    ("hint", "default", "schema"),
    [
        (int | None, None, {"type": "integer"}),
        (Annotated[int | None, Nullable()], None, {"type": "integer", "nullable": True}),
        (int, 3, {"type": "integer", "default": 3}),
        (Annotated[int | None, Nullable()], 3, {"type": "integer", "nullable": True, "default": 3}),
        (list[str], [], {"type": "array", "items": {"type": "string"}, "default": []}),
        (datetime, datetime(2026, 1, 2, tzinfo=UTC), {"type": "string", "default": "2026-01-02T00:00:00Z"}),
        (timedelta, timedelta(hours=1), {"type": "string", "default": "1h0m0s"}),
        (bytes, b"hi", {"type": "string", "default": "aGk="}),
        (Level, Level.HIGH, {"type": "integer", "default": 2}),
        (set[str], {"b", "a"}, {"type": "array", "default": ["a", "b"]}),
        (Inner, Inner(), {"type": "object", "default": {"xY": 1}}),
        (Inner, Inner(x_y=2), {"type": "object", "default": {"xY": 2}}),
        (Inner, Field(default_factory=Inner), {"type": "object", "default": {"xY": 1}}),
        (Point, Point(1), {"type": "object", "default": {"x": 1, "y": 0}}),
        (list[Inner], [Inner(x_y=2)], {"type": "array", "default": [{"xY": 2}]}),
    ],
)
def test_a_default_is_the_servers(hint: Any, default: Any, schema: Json) -> None:
    found = schema_of(hint, default)
    assert found.pop("optional")
    assert found.get("default", ...) == schema.get("default", ...)
    assert found.items() >= schema.items()


class _Cat(BaseModel):
    kind: Literal["cat"]


class _Dog(BaseModel):
    kind: Literal["dog"]


class _Tree(BaseModel):
    left: _Tree | None = None


class _Dict(TypedDict):
    a: int


class _Own(BaseModel):
    a: int

    def __init__(self, a: int) -> None:
        super().__init__(a=a)


@dataclasses.dataclass(slots=True)
class _Slotted:
    a: int


class _Twice(BaseModel):
    a_b: int
    a__b: int


@pytest.mark.parametrize(
    ("hint", "default", "words"),
    [
        pytest.param(_Cat | _Dog, ..., "is a union, .* use one model with optional fields", id="union"),
        pytest.param(
            Annotated[_Cat | _Dog, Field(discriminator="kind")],
            ...,
            "is a discriminated union",
            id="discriminated",
        ),
        pytest.param(int | float, ..., "is a union", id="two sorts of number"),
        pytest.param(_Tree, ..., "contains itself", id="recursive"),
        pytest.param(tuple[int, str], ..., "is a tuple of several types", id="tuple"),
        pytest.param(dict[int, str], ..., "keys are not plain texts", id="keys"),
        pytest.param(Literal["a", 1], ..., "is a Literal of several types", id="mixed literal"),
        pytest.param(Literal["a", None], ..., "is a Literal of several types", id="literal with None"),
        pytest.param(enum.Enum("E", {"A": 1, "B": "b"}), ..., "is an Enum of several types", id="mixed enum"),
        pytest.param(time, ..., "is a time of day", id="time"),
        pytest.param(_Dict, ..., "is a TypedDict", id="typed dict"),
        pytest.param(_Own, ..., "has an __init__ of its own", id="init"),
        pytest.param(_Slotted, ..., "has slots", id="slots"),
        pytest.param(_Twice, ..., "two fields that are 'aB' in JSON", id="one name twice"),
        pytest.param(Callable[[], int], ..., "has a type that JSON does not have", id="callable"),
        pytest.param(UUID, Field(default_factory=uuid4), "has a default that is another one each time", id="factory"),
        pytest.param(int, "three", "has a default that does not fit its type", id="wrong default"),
        pytest.param(Annotated[str, MapKeys("a")], ..., "stands beside a list of objects", id="MapKeys"),
        pytest.param(Annotated[list[Port], MapKeys()], ..., "needs the names of the fields", id="no keys"),
        pytest.param(Annotated[str, Atomic()], ..., "stands beside a list, a dict or a model", id="Atomic"),
        pytest.param(
            Annotated[str, Field(json_schema_extra={"colour": "red"})], ..., "says 'colour', which is no", id="keyword"
        ),
    ],
)
def test_what_cannot_be_said_is_told_with_its_path(hint: Any, default: Any, words: str) -> None:
    with pytest.raises(NotStructural, match=words) as told:
        schema_of(hint, default)
    assert told.value.path.startswith("spec.field") or told.value.path in ("", "field")


def test_a_validator_of_the_authors_changes_nothing() -> None:
    class Checked(BaseModel):
        a_b: int

        @field_validator("a_b")
        @classmethod
        def positive(cls, value: int) -> int:
            if value < 0:
                raise ValueError("must not be negative")
            return value

    class Thing(Resource):
        Spec = Checked

    assert Thing.codec().schema["properties"]["spec"]["properties"] == {"aB": {"type": "integer"}}
    with pytest.raises(ValueError, match=r"spec.aB: Value error, must not be negative"):
        Thing.from_json({"spec": {"aB": -1}})


def test_a_status_is_no_part_of_what_users_write() -> None:
    schema = CronTab.codec().schema
    assert schema["required"] == ["spec"]
    assert "default" not in schema["properties"]["status"]
    assert schema["description"] == "Runs something, again and again."
    assert Plain.codec().schema["properties"]["data"] == {
        "type": "object",
        "additionalProperties": {"type": "string"},
        "default": {},
    }


def test_a_status_that_cannot_be_empty_must_say_so() -> None:
    class Bad(Resource):
        class Status(BaseModel):
            phase: str

    with pytest.raises(NotStructural, match=r"has required fields, .* `status: Status \| None = None`"):
        Bad.codec()

    class Good(Resource):
        class Status(BaseModel):
            phase: str

        status: Status | None = None

    assert Good.from_json({}).status is None
    assert Good.codec().schema["properties"]["status"]["required"] == ["phase"]


@pytest.mark.parametrize("hint", [CronTab.Status, Annotated[CronTab.Status, PreserveUnknown()], Point | None])
def test_a_status_of_another_class_is_no_part_of_what_users_write_either(hint: Any) -> None:
    default = {"status": None} if hint == Point | None else {}
    cls = type("Other", (Resource,), {"__annotations__": {"status": hint}, "__module__": __name__, **default})
    assert "required" not in cls.codec().schema
    assert "status" not in cls.from_json({}).to_json()


def test_keywords_of_the_whole_object_are_laid_over() -> None:
    class Short(Resource):
        class Spec(BaseModel):
            a: int = 1

        json_schema_extra: ClassVar[Json] = {
            "properties": {"metadata": {"type": "object", "properties": {"name": {"maxLength": 5}}}}
        }

    assert set(Short.codec().schema["properties"]) == {"spec", "metadata"}


def declared(cls: type[Resource]) -> Declared:
    return Declared(resource=cls, place="here:1", group="stable.example.com", version="v1", kind=cls.__name__)


@settings(max_examples=60, deadline=None)
@given(models())
def test_every_class_makes_a_definition_that_an_api_server_takes(made: tuple[type[Resource], Json]) -> None:
    """And what the class writes fits the schema, and is read the same once the server has filled in the defaults."""
    cls, json = made
    (definition,) = definitions([declared(cls)])
    structure = Structure(definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"])
    read = cls.from_json({"apiVersion": "stable.example.com/v1", "kind": cls.__name__, "metadata": {}, **json})
    written = read.to_json()
    assert structure.decode(written).unknown == []
    structure.complete(written)
    assert structure.rules["validation", "CREATE"](written) == []
    assert cls.from_json(written).spec == read.spec
