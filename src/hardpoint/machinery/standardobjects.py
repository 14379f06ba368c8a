"""The table of objects that every cluster has: default roles and bindings, flow control, local API services.

`data/bootstrap.json` is made by `tools/make_tables.py` from what v1.37 creates.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from hardpoint.machinery.kinds import Kind, by_kind

Json = dict[str, Any]

_TABLE = Path(__file__).parent / "data/bootstrap.json"


class StandardObject(NamedTuple):
    kind: Kind
    object: Json
    """As it is written, new every time."""
    fields: Json
    """What of it belongs to whoever made it, as managedFields have it; shared."""


def standard_objects() -> Iterator[StandardObject]:
    """Every object; those that others refer to come first."""
    for resource in orjson.loads(_TABLE.read_bytes()).values():
        api_version, name, common = resource["apiVersion"], resource["kind"], resource["metadata"]
        kind = by_kind(api_version, name)
        assert kind is not None, "the tables were made together"
        for own in resource["objects"]:
            metadata, fields = own.pop("metadata"), resource["fields"][own.pop("fields")]
            for field, shared in common.items():
                metadata[field] = {**shared, **metadata.get(field, {})}
            obj = {"apiVersion": api_version, "kind": name, "metadata": metadata, **own}
            yield StandardObject(kind, obj, fields)
