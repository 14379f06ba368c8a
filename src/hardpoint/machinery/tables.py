"""`meta.k8s.io/v1 Table`: lists and objects as rows of cells, which is what `kubectl get` prints.

The columns of built-in kinds are in `data/columns.json`, their cells in `printers`. The columns of custom resources are
told by their definition, as JSON paths.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

import orjson

from hardpoint.machinery import jsonpath
from hardpoint.machinery.jsontext import encode
from hardpoint.machinery.kinds import Kind, by_kind
from hardpoint.machinery.partial import partial_metadata
from hardpoint.machinery.printers import CELLS, access, pods, storage
from hardpoint.machinery.printers.cells import Cells, ago, at
from hardpoint.machinery.printers.descriptions import DESCRIPTIONS
from hardpoint.machinery.timestamps import BadTimestamp, parse_time

Json = dict[str, Any]

_COLUMNS = Path(__file__).parent / "data/columns.json"
_NAME = ("Name", "string", "name", 0)
_CREATED_AT = ("Created At", "date", "", 0)
_UNLISTED = {
    "autoscaling/v1/scale": (
        ("Name", "string", "", 0),
        ("Desired", "integer", "", 0),
        ("Available", "integer", "", 0),
        ("Age", "string", "", 0),
    )
}
"""Columns of what is served only beside something else."""
_AGE_COLUMN = {
    "name": "Age",
    "type": "date",
    "description": DESCRIPTIONS["Age"],
    "jsonPath": ".metadata.creationTimestamp",
}
_ZERO_TIME = "0001-01-01T00:00:00Z"


def table(
    kind: Kind,
    objects: Sequence[Json],
    *,
    now: datetime,
    include_object: str = "Metadata",
    list_meta: Json | None = None,
    single: bool = False,
    version: str = "v1",
) -> Json:
    """The Table of objects of one kind, as they are stored. `single` says that they are one object and no list of one.

    Rows carry what `include_object` says: `None`, the `Metadata` or the whole `Object`; `version` is meta.k8s.io's.
    Custom resources get their name and the columns of their definition.
    """
    key = (kind.group, kind.kind)
    columns = kind.structure.columns if kind.structure is not None else ()
    if kind.structure is not None or (key not in CELLS and by_kind(kind.api_version, kind.kind) is None):
        return custom_table(
            columns, objects, now=now, include_object=include_object, list_meta=list_meta, version=version
        )
    if key == ("flowcontrol.apiserver.k8s.io", "FlowSchema"):
        objects = [dict(each) for each in access.by_precedence(objects)]
    printer = CELLS.get(key, _default_cells)
    rows = [_row(printer(obj, now), obj, include_object, version) for obj in objects]
    if key == ("", "Pod"):
        _add_pod_conditions(rows, objects)
    if key == ("storage.k8s.io", "StorageClass") and not single:
        _mark_default_class(rows, objects)
    definitions = list(_definitions(kind))
    # Upstream's printers start with a list of no rows, its default one, which tells when, with no list at all.
    is_default = any(column["name"] == _CREATED_AT[0] for column in definitions)
    return _table(definitions, rows or (None if is_default else []), list_meta, version)


def custom_table(
    columns: Iterable[Mapping[str, Any]],
    objects: Sequence[Json],
    *,
    now: datetime,
    include_object: str = "Metadata",
    list_meta: Json | None = None,
    version: str = "v1",
) -> Json:
    """The Table of custom resources whose definition has these `additionalPrinterColumns`; none means the age."""
    chosen = list(columns) or [_AGE_COLUMN]
    definitions = [_definition(*_NAME), *(_custom_definition(column) for column in chosen)]
    finders = [(_finder(column["jsonPath"]), column["type"]) for column in chosen]
    rows = []
    for obj in objects:
        cells = [obj["metadata"].get("name", "")]
        cells += [_custom_cell(find(obj), type_, now) for find, type_ in finders]
        rows.append(_row(cells, obj, include_object, version))
    return _table(definitions, rows, list_meta, version)


def _table(definitions: list[Json], rows: list[Json] | None, list_meta: Json | None, version: str) -> Json:
    return {
        "kind": "Table",
        "apiVersion": f"meta.k8s.io/{version}",
        "metadata": list_meta or {},
        "columnDefinitions": definitions,
        "rows": rows,
    }


def _row(cells: Cells, obj: Json, include_object: str, version: str) -> Json:
    shown: Json | None = None
    if include_object == "Object":
        shown = obj
    elif include_object == "Metadata":
        shown = partial_metadata(obj, version)
    return {"cells": cells, "object": shown}


def _add_pod_conditions(rows: list[Json], objects: Sequence[Json]) -> None:
    for row, pod in zip(rows, objects, strict=True):
        conditions = pods.CONDITIONS.get(at(pod, "status.phase", ""))
        if conditions:
            row["conditions"] = conditions


def _mark_default_class(rows: list[Json], objects: Sequence[Json]) -> None:
    default = storage.default_storage_class(objects)
    for row in rows:
        if default and row["cells"][0] == default:
            row["cells"][0] = f"{default} (default)"


def _default_cells(obj: Mapping[str, Any], _: datetime) -> Cells:
    metadata = obj["metadata"]
    return [metadata.get("name", ""), metadata.get("creationTimestamp") or _ZERO_TIME]


@cache
def _definitions(kind: Kind) -> tuple[Json, ...]:
    resource = f"{kind.api_version}/{kind.plural}"
    columns = _UNLISTED.get(resource) or _columns().get(resource, (_NAME, _CREATED_AT))
    return tuple(_definition(*column) for column in columns)


@cache
def _columns() -> Mapping[str, Sequence[tuple[str, str, str, int]]]:
    columns: Mapping[str, Sequence[tuple[str, str, str, int]]] = orjson.loads(_COLUMNS.read_bytes())
    return columns


def _definition(name: str, type_: str, format_: str, priority: int, description: str = "") -> Json:
    return {
        "name": name,
        "type": type_,
        "format": format_,
        "description": description or DESCRIPTIONS.get(name, name),
        "priority": priority,
    }


def _custom_definition(column: Mapping[str, Any]) -> Json:
    description = column.get("description") or (
        f"Custom resource definition column (in JSONPath format): {column['jsonPath']}"
    )
    return _definition(column["name"], column["type"], column.get("format", ""), column.get("priority", 0), description)


def _finder(path: str) -> jsonpath.Finder:
    """Finds nothing where a definition that was never checked has a path nobody understands."""
    try:
        return jsonpath.parse(path)
    except jsonpath.BadPath:
        return lambda _: []


def _custom_cell(values: list[Any], type_: str, now: datetime) -> Any:
    """The first value found, if it is of the column's type."""
    if not values:
        return None
    if type_ == "string":
        return _text(values[0])
    convert = _CONVERSIONS.get(type_)
    return convert(values[0], now) if convert else None


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if value is None:
        return "null"
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
    except orjson.JSONEncodeError:
        # Too deep for orjson, or a number no float holds.
        return encode(value).decode()


def _integer(value: Any, _: datetime) -> int | None:
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _number(value: Any, _: datetime) -> float | int | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _boolean(value: Any, _: datetime) -> bool | None:
    return value if isinstance(value, bool) else None


def _date(value: Any, now: datetime) -> str | None:
    if not isinstance(value, str):
        return None
    if not value:
        return "<unknown>"
    try:
        parse_time(value)
    except BadTimestamp:
        return "<invalid>"
    return ago(value, now)


_CONVERSIONS: Mapping[str, Callable[[Any, datetime], Any]] = {
    "integer": _integer,
    "number": _number,
    "boolean": _boolean,
    "date": _date,
}
