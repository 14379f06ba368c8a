"""Objects read and written with attributes, under the field names Kubernetes gives them.

    pod = Object({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}})
    pod.spec.nodeName                              # "", as Go reads what is absent
    pod.spec.securityContext.runAsNonRoot = True   # and what leads there is made

An Object holds the JSON it was made from and copies nothing: what is changed in one is changed in the other, and `json`
is always the whole of it. Of built-in kinds the fields are known: one that does not exist is an AttributeError, and one
that is absent reads as its type's nothing, or None where Kubernetes tells nothing from absent. Of other kinds whatever
is absent is None. Setting a field to None takes it away. A field that is a word of Python's has an underscore behind
it: `rule.from_`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, MutableMapping, MutableSequence
from functools import cache
from keyword import iskeyword
from typing import Any, ClassVar, Self, overload

from hardpoint.machinery import shapes
from hardpoint.machinery.shapes import Field, Shape
from hardpoint.machinery.shapes.values import AS_THEY_ARE, INT_OR_STRING, LISTS_OF_STRINGS, META, QUANTITY

Json = dict[str, Any]

_NO_STRUCTS = (
    frozenset({QUANTITY, INT_OR_STRING, *(META + name for name in ("Time", "MicroTime", "Duration"))})
    | AS_THEY_ARE
    | LISTS_OF_STRINGS
)
"""Types that have fields in Go and are something else in JSON."""
_ZERO = {"string": "", "bool": False, "bytes": ""}
"""What an absent scalar is; all others are numbers."""


class Object:
    """A JSON object."""

    __slots__ = ("_home", "_shape", "json")

    api_version: ClassVar[str]
    """What classes for one kind say."""
    kind: ClassVar[str]

    json: Json
    """All of it."""
    _shape: Shape | None

    def __init__(self, json: Json) -> None:
        """A class for one kind says so in `json`, if that does not."""
        kind = getattr(type(self), "kind", None)
        if kind is not None:
            json.setdefault("apiVersion", type(self).api_version)
            json.setdefault("kind", kind)
        _put(self, json, shapes.find(str(json.get("apiVersion")), str(json.get("kind"))), None)

    @classmethod
    def from_json(cls, json: Json) -> Self:
        """The object that `json` is, and shares with it."""
        return cls(json)

    def to_json(self) -> Json:
        return self.json

    def __getattr__(self, name: str) -> Any:
        name = _field_name(name)
        field = self._field(name)
        found = self.json.get(name)
        if found is not None:
            return _shown(found, field)
        return None if field is None else _absent(field, (self, name))

    def __setattr__(self, name: str, value: Any) -> None:
        name = _field_name(name)
        self._field(name)
        if value is None:
            self.json.pop(name, None)
            return
        _settle(self)
        self.json[name] = _plain(value)

    def __delattr__(self, name: str) -> None:
        self.json.pop(_field_name(name), None)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Object) and self.json == other.json

    __hash__ = None  # type: ignore[assignment] # What can change is no key.

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.json!r})"

    def __dir__(self) -> Iterable[str]:
        return [*super().__dir__(), *(self._shape.fields if self._shape is not None else self.json)]

    def _field(self, name: str) -> Field | None:
        """What is known of a field. Raises AttributeError for one that the type does not have."""
        if self._shape is None:
            return _metadata() if name == "metadata" and "kind" in self.json else None
        field = self._shape.field(name)
        if field is None and name not in self.json:
            raise AttributeError(f"{self._shape.go_name} has no field {name!r}")
        return field


class Items(MutableSequence[Any]):
    """A JSON array; its objects are Objects."""

    __slots__ = ("_home", "_shape", "json")

    json: list[Any]
    _shape: Shape | None

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> list[Any]: ...
    def __getitem__(self, index: int | slice) -> Any:
        found = self.json[index]
        return [_part(each, self._shape) for each in found] if isinstance(index, slice) else _part(found, self._shape)

    def __setitem__(self, index: Any, value: Any) -> None:
        self.json[index] = _plain(value)

    def __delitem__(self, index: int | slice) -> None:
        del self.json[index]

    def __len__(self) -> int:
        return len(self.json)

    def insert(self, index: int, value: Any) -> None:
        _settle(self)
        self.json.insert(index, _plain(value))

    def __eq__(self, other: object) -> bool:
        return bool(self.json == _plain(other))

    __hash__ = None  # type: ignore[assignment] # What can change is no key.

    def __repr__(self) -> str:
        return f"Items({self.json!r})"


class Map(MutableMapping[str, Any]):
    """A JSON object whose names are data, such as labels; objects in it are Objects."""

    __slots__ = ("_home", "_shape", "json")

    json: Json
    _shape: Shape | None

    def __getitem__(self, name: str) -> Any:
        return _part(self.json[name], self._shape)

    def __setitem__(self, name: str, value: Any) -> None:
        _settle(self)
        self.json[name] = _plain(value)

    def __delitem__(self, name: str) -> None:
        del self.json[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.json)

    def __len__(self) -> int:
        return len(self.json)

    def __eq__(self, other: object) -> bool:
        return bool(self.json == _plain(other))

    __hash__ = None  # type: ignore[assignment] # What can change is no key.

    def __repr__(self) -> str:
        return f"Map({self.json!r})"


_Part = Object | Items | Map
_Home = tuple[Object, str]
"""Where a part that is not there yet belongs, as soon as something is put into it."""


def _put(part: _Part, json: Any, shape: Shape | None, home: _Home | None) -> Any:
    for name, value in (("json", json), ("_shape", shape), ("_home", home)):
        object.__setattr__(part, name, value)
    return part


def _part(value: Any, shape: Shape | None) -> Any:
    """A value of an array or a map, or of a field whose type is `shape`."""
    if isinstance(value, dict):
        return _put(Object.__new__(Object), value, shape, None)
    if isinstance(value, list):
        return _put(Items(), value, shape, None)
    return value


def _shown(value: Any, field: Field | None) -> Any:
    """What a field holds."""
    shape = _struct(field)
    if field is not None and field.is_map and isinstance(value, dict):
        return _put(Map(), value, shape, None)
    return _part(value, shape)


def _absent(field: Field, home: _Home) -> Any:
    """What a field reads as that is not there."""
    shape = _struct(field)
    if field.is_list:
        return _put(Items(), [], shape, home)
    if field.is_map:
        return _put(Map(), {}, shape, home)
    if shape is not None:
        return _put(Object.__new__(Object), {}, shape, home)
    if field.go.startswith("ptr") or "." in field.type:
        return None
    return _ZERO.get(field.type, 0)


@cache
def _metadata() -> Field | None:
    """What is known of every object, whatever its kind."""
    return shapes.shape("v1", "ConfigMap").field("metadata")


def _struct(field: Field | None) -> Shape | None:
    """The type of the objects in a field; None if there are none, or if nothing is known of them."""
    return None if field is None or field.type in _NO_STRUCTS else field.element


def _settle(part: _Part) -> None:
    """Have a part be where it belongs."""
    home: _Home | None = object.__getattribute__(part, "_home")
    if home is None:
        return
    parent, name = home
    _settle(parent)
    # Somebody else may have made it since.
    object.__setattr__(part, "json", parent.json.setdefault(name, part.json))
    object.__setattr__(part, "_home", None)


def _plain(value: Any) -> Any:
    """The JSON of a value that may hold parts."""
    if isinstance(value, Object | Items | Map):
        return value.json
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value


def _field_name(name: str) -> str:
    return name[:-1] if name.endswith("_") and iskeyword(name[:-1]) else name
