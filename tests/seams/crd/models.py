"""Random resource classes, each with an object that fits it."""

from __future__ import annotations

import enum
import itertools
from collections.abc import Callable
from datetime import date, datetime, timedelta
from ipaddress import IPv4Address
from typing import Annotated, Any, Literal
from uuid import UUID

from hypothesis import strategies as st
from pydantic import BaseModel, Field, create_model

from hardpoint.crd import Int32, IntOrString, MapKeys, Nullable, Quantity, Resource

Json = dict[str, Any]
Sort = tuple[Any, st.SearchStrategy[Any]]
"""A type, and the JSON that fits it."""

_numbers = itertools.count(1)

_WORDS = st.text("abc", min_size=1, max_size=4)
_NAMES = st.lists(
    st.sampled_from(["name", "port_number", "class_", "is_ca", "x", "copy_", "a_b_c", "labels", "to_do"]),
    unique=True,
    min_size=1,
    max_size=4,
)


class Size(enum.Enum):
    SMALL = "small"
    LARGE = "large"


SCALARS: list[Sort] = [
    (str, _WORDS),
    (int, st.integers(-9, 9)),
    (float, st.integers(-9, 9) | st.floats(-9, 9)),
    (bool, st.booleans()),
    (Int32, st.integers(-9, 9)),
    (Size, st.sampled_from(["small", "large"])),
    (Literal["a", "b"], st.sampled_from(["a", "b"])),
    (datetime, st.just("2026-01-02T03:04:05Z")),
    (date, st.just("2026-01-02")),
    (timedelta, st.sampled_from(["1h", "5m0s"])),
    (UUID, st.just("12345678-1234-5678-1234-567812345678")),
    (IPv4Address, st.just("10.0.0.1")),
    (bytes, st.just("aGk=")),
    (Quantity, st.sampled_from(["1", "100m", "1Gi"])),
    (IntOrString, st.integers(0, 9) | _WORDS),
    (Annotated[str, Field(pattern="^[a-c]+$", max_length=8)], _WORDS),
    (Annotated[int, Field(ge=-9, lt=10, multiple_of=1)], st.integers(-9, 9)),
]


@st.composite
def _model(draw: st.DrawFn, sorts: st.SearchStrategy[Sort]) -> Sort:
    fields: dict[str, Any] = {}
    json: dict[str, st.SearchStrategy[Any]] = {}
    optional: dict[str, st.SearchStrategy[Any]] = {}
    for name in draw(_NAMES):
        hint, values = draw(sorts)
        wire = "".join(part.capitalize() if at else part for at, part in enumerate(name.strip("_").split("_")))
        if hint in PLAIN and draw(st.booleans()):
            fields[name] = (hint, draw(values))
        else:
            fields[name] = draw(st.sampled_from(PRESENCES))(hint)
        (json if fields[name][1] is ... else optional)[wire] = values
    model = create_model(f"Model{next(_numbers)}", **fields)
    return model, st.fixed_dictionaries(json, optional=optional)


PLAIN = (str, int, bool, Int32, Literal["a", "b"])
"""Types whose values are in Python what they are in JSON."""
PRESENCES: list[Callable[[Any], tuple[Any, Any]]] = [
    lambda hint: (hint, ...),
    lambda hint: (hint | None, None),
    lambda hint: (Annotated[hint | None, Nullable()], None),
    lambda hint: (Annotated[hint, Field(description="Words.")], ...),
]


class Keyed(BaseModel):
    name: str
    value: int = 1


_KEYED = st.lists(
    st.fixed_dictionaries({"name": _WORDS}, optional={"value": st.integers(0, 9)}),
    unique_by=lambda item: item["name"],
    max_size=3,
)


def _larger(sorts: st.SearchStrategy[Sort]) -> st.SearchStrategy[Sort]:
    return st.one_of(
        _model(sorts),
        sorts.map(lambda sort: (list[sort[0]], st.lists(sort[1], max_size=3))),  # type: ignore[name-defined]  # At run time.
        sorts.map(lambda sort: (dict[str, sort[0]], st.dictionaries(_WORDS, sort[1], max_size=3))),  # type: ignore[name-defined]  # At run time.
        st.just((Annotated[list[Keyed], MapKeys("name")], _KEYED)),
        st.just((set[str], st.lists(_WORDS, unique=True, max_size=3))),
        st.just((dict[str, Any], st.dictionaries(_WORDS, st.integers(), max_size=2))),
        st.just((Any, st.integers() | _WORDS)),
    )


@st.composite
def models(draw: st.DrawFn) -> tuple[type[Resource], Json]:
    """A class with a Spec of some depth, and the parts of an object of it."""
    spec, json = draw(_model(st.recursive(st.sampled_from(SCALARS), _larger, max_leaves=8)))
    name = f"Thing{next(_numbers)}"
    return type(name, (Resource,), {"Spec": spec, "__module__": __name__}), {"spec": draw(json)}
