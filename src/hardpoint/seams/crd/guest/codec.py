"""What one Resource class is made of, compiled: a reader, a writer and a schema for the fields of its top level."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, get_args, get_origin, get_type_hints

from pydantic import BaseModel, Field, PydanticUserError, ValidationError, create_model
from pydantic_core import PydanticSerializationError, SchemaError, SchemaSerializer, SchemaValidator

from hardpoint.seams.crd.guest.markers import VALIDATIONS
from hardpoint.seams.crd.guest.schema import structural
from hardpoint.seams.crd.guest.wire import Node, NotStructural, is_required, wired

if TYPE_CHECKING:
    from hardpoint.seams.crd.guest.resource import Resource

Json = dict[str, Any]

PARTS = {"spec": "Spec", "status": "Status"}
"""Fields that follow from a class inside the class."""
NOT_FIELDS = frozenset(("metadata", "api_version", "kind", "rules", "json_schema_extra"))
PROBLEMS_MAX = 10

_UNEXPECTED = re.compile(
    r"Expected `([^`]*)`[^\[]*\[(?:field_name='([^']*)', )?input_value=.*, input_type=(\w+)\]", re.DOTALL
)
_OWN = "hardpoint.seams.crd.guest.resource"


class Codec:
    """Reads and writes objects of one class. Raises NotStructural if the class cannot be described."""

    def __init__(self, cls: type[Resource]) -> None:
        self._cls = cls
        self._implied: set[str] = set()
        self._model = self._top_level()
        try:
            self.plan = wired(self._model.__pydantic_core_schema__)
        except PydanticUserError as wrong:
            raise NotStructural(f"cannot be described ({wrong.message})") from wrong
        fields: dict[str, Node] = self.plan["schema"]["fields"]
        self.names = tuple(fields)
        self._wire = {name: field["serialization_alias"] for name, field in fields.items()}
        self._required = [name for name, field in fields.items() if is_required(field)]
        top: Any = {"type": "typed-dict", "fields": {name: _entry(field) for name, field in fields.items()}}
        try:
            self._reader = SchemaValidator(top, _use_prebuilt=False)
            self._writer = SchemaSerializer(top, _use_prebuilt=False)
        except SchemaError as wrong:
            raise NotStructural(f"cannot be read ({wrong})") from wrong
        self._usual = self._written(
            {
                name: value
                for name, value in self._defaults().items()
                if value is not None and name not in self._required
            }
        )

    def _top_level(self) -> type[BaseModel]:
        """The fields of the object itself, as a model."""
        hints = _hints(self._cls)
        for name, part in PARTS.items():
            if hasattr(self._cls, part):
                hints.setdefault(name, getattr(self._cls, part))
        if not hints and not self._cls.json_schema_extra:
            raise NotStructural("has no fields; give it a class Spec with what users write")
        fields: dict[str, Any] = {name: (hint, self._default(name, hint)) for name, hint in hints.items()}
        try:
            return create_model(self._cls.__name__, **fields)
        except PydanticUserError as wrong:
            raise NotStructural(f"cannot be described ({wrong.message})") from wrong

    def _default(self, name: str, hint: Any) -> Any:
        """What the class says stands in for an absent field. A status is there from the start, to be filled in."""
        said = getattr(self._cls, name, ...)
        status = get_args(hint)[0] if get_origin(hint) is Annotated else hint
        if said is not ... or name != "status" or not isinstance(status, type):
            return said
        try:
            status()
        except (TypeError, ValueError) as wrong:
            raise NotStructural(
                "has required fields, and a new object has no status yet; give them defaults, or write "
                "`status: Status | None = None`",
                "status",
            ) from wrong
        self._implied.add("status")
        return Field(default_factory=status)

    def read(self, json: Json) -> dict[str, Any]:
        """The fields of the top level by name. Raises ValueError."""
        try:
            fields: dict[str, Any] = self._reader.validate_python(json)
        except ValidationError as wrong:
            raise ValueError(f"{self._cls.kind or self._cls.__name__}: {_told(wrong)}") from None
        return fields

    def write(self, fields: Mapping[str, Any], json: Json) -> None:
        """Put the fields into `json`, which holds what was read: what did not change stays as it is, to the letter.

        Raises ValueError.
        """
        written = self._written({name: fields[name] for name in self.names if fields.get(name) is not None})
        there = {wire: json.pop(wire) for wire in self._wire.values() if wire in json}
        changed = {wire for wire, value in there.items() if wire not in written or written[wire] != value}
        if changed:
            read = {name: value for name, value in self.read(there).items() if self._wire[name] in changed}
            written = _restored(written, {**there, **self._written(read)}, there)
        # A status nobody has written yet is there to be filled in, and not in the object; so with other defaults.
        json.update((wire, value) for wire, value in written.items() if wire in there or value != self._usual.get(wire))

    def _written(self, fields: Mapping[str, Any]) -> Json:
        try:
            written: Json = self._writer.to_python(
                fields, mode="json", by_alias=True, exclude_unset=True, warnings="error"
            )
        except PydanticSerializationError as wrong:
            raise ValueError(f"{self._cls.kind or self._cls.__name__} cannot be written: {_misheld(wrong)}") from None
        return written

    def filled_in(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The fields of a new object. Raises TypeError for one that is missing, or that the class does not have."""
        strange = [name for name in given if name not in self.names]
        missing = [name for name in self._required if name not in given]
        if strange or missing:
            why = f"has no field {strange[0]!r}" if strange else f"needs {missing[0]}="
            raise TypeError(f"{self._cls.__name__} {why}")
        return {**self._defaults(), **given}

    def _defaults(self) -> dict[str, Any]:
        fields = self._model.model_fields
        return {name: fields[name].get_default(call_default_factory=True) for name in self.names}

    @cached_property
    def schema(self) -> Json:
        """The `openAPIV3Schema` of the class. Raises NotStructural."""
        schema = structural(self.plan)
        for wire in self._implied:
            schema["properties"][wire].pop("default", None)
        if self._cls.__doc__:
            schema["description"] = inspect.cleandoc(self._cls.__doc__)
        if self._cls.rules:
            schema[VALIDATIONS] = [rule.to_json() for rule in self._cls.rules]
        return _merged(schema, self._cls.json_schema_extra)


def _hints(cls: type[Resource]) -> dict[str, Any]:
    """The types of the annotated attributes, those of base classes first."""
    found: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        if base.__module__ == _OWN or base is object:
            continue
        said = type(base.__name__, (), {"__annotations__": dict(inspect.get_annotations(base))})
        known = {**cls._defined_in, **vars(base)}
        try:
            found |= get_type_hints(said, vars(sys.modules[base.__module__]), known, include_extras=True)
        except NameError as wrong:
            raise NotStructural(f"names a type that is not there: {wrong}") from wrong
    return {
        name: hint
        for name, hint in found.items()
        if get_origin(hint) is not ClassVar and hint is not ClassVar and name not in NOT_FIELDS and name[0] != "_"
    }


def _entry(field: Node) -> Node:
    """A field of a model as one of a dict: the Resource itself holds the values."""
    entry = {key: value for key, value in field.items() if key != "frozen"}
    return {**entry, "type": "typed-dict-field", "required": is_required(field)}


def _told(wrong: ValidationError) -> str:
    """What does not fit, without the values: they may be secret."""
    problems = wrong.errors(include_url=False, include_input=False, include_context=False)
    told = [f"{_path(problem['loc'])}: {problem['msg']}" for problem in problems[:PROBLEMS_MAX]]
    return "; ".join(told) + (f"; and {len(problems) - PROBLEMS_MAX} more" if len(problems) > PROBLEMS_MAX else "")


def _misheld(wrong: PydanticSerializationError) -> str:
    """Which field holds what it should not, again without the value."""
    found = _UNEXPECTED.findall(str(wrong))
    told = [f"{field or 'a field'} holds a {held}, and should hold {wanted}" for wanted, field, held in found]
    return "; ".join(told) or " ".join(str(wrong).split())


def _path(steps: tuple[int | str, ...]) -> str:
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps).lstrip(".")


def _restored(now: Any, before: Any, read: Any) -> Any:
    """`now` in the words of what was `read`, wherever it is still what was there `before`.

    Times, durations and amounts have many spellings, and sets have no order: `before` is `read` in ours.
    """
    if now == before:
        return read
    if isinstance(now, dict) and isinstance(before, dict) and isinstance(read, dict):
        return {
            key: _restored(value, before[key], read[key]) if key in before and key in read else value
            for key, value in now.items()
        }
    if isinstance(now, list) and isinstance(before, list) and isinstance(read, list) and len(before) == len(read):
        told_apart = list(zip(before, read, strict=True))
        return [_restored(item, *told_apart[at]) if at < len(told_apart) else item for at, item in enumerate(now)]
    return now


def _merged(schema: Json, more: Mapping[str, Any]) -> Json:
    """`more` laid over the schema, object by object."""
    merged = dict(schema)
    for key, value in more.items():
        there = merged.get(key)
        merged[key] = _merged(there, value) if isinstance(there, dict) and isinstance(value, Mapping) else value
    return merged
