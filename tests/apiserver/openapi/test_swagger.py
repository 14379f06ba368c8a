"""The v2 document, in JSON and in protobuf."""

from __future__ import annotations

from typing import Any

import orjson

from hardpoint.apiserver.openapi import gnostic
from hardpoint.apiserver.openapi.swagger import swagger

Json = dict[str, Any]


def test_one_document_holds_everything(documents: dict[str, Json]) -> None:
    old = swagger(documents.values())
    assert old["paths"].keys() == {path for one in documents.values() for path in one["paths"]}
    options = old["definitions"]["io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions"]
    assert {"group": "apps", "kind": "DeleteOptions", "version": "v1"} in options["x-kubernetes-group-version-kind"]
    quantity = old["definitions"]["io.k8s.apimachinery.pkg.api.resource.Quantity"]
    assert (quantity["type"], "oneOf" in quantity) == ("string", False)


def test_protobuf_holds_the_same_as_json(documents: dict[str, Json]) -> None:
    old = swagger([documents["apis/apps/v1"]])
    message = _decoded(gnostic.encode(old))
    assert message[1] == [b"2.0"]
    paths = dict(_pair(one) for one in _decoded(message[8][0])[2])
    assert paths.keys() == old["paths"].keys()
    definitions = dict(_pair(one) for one in _decoded(message[9][0])[1])
    assert definitions.keys() == old["definitions"].keys()
    for name, schema in old["definitions"].items():
        written = _decoded(definitions[name])
        properties = dict(_pair(one) for one in _decoded(written.get(25, [b""])[0]).get(1, []))
        assert properties.keys() == schema.get("properties", {}).keys(), name
        extensions = {key: orjson.loads(_decoded(any_)[2][0]) for key, any_ in map(_pair, written.get(31, []))}
        assert extensions == {key: value for key, value in schema.items() if key.startswith("x-")}, name
    container = _decoded(definitions["io.k8s.api.core.v1.Container"])
    assert [one.decode() for one in container[19]] == ["name"]


def _decoded(message: bytes) -> dict[int, list[Any]]:
    """The fields of a protobuf message by number, for messages of lengths and varints."""
    fields: dict[int, list[Any]] = {}
    position = 0

    def varint() -> int:
        nonlocal position
        value = shift = 0
        while True:
            byte = message[position]
            position += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while position < len(message):
        tag = varint()
        if tag & 7 == 0:
            fields.setdefault(tag >> 3, []).append(varint())
        else:
            assert tag & 7 == 2
            length = varint()
            fields.setdefault(tag >> 3, []).append(message[position : position + length])
            position += length
    return fields


def _pair(message: bytes) -> tuple[str, bytes]:
    fields = _decoded(message)
    return fields[1][0].decode(), fields.get(2, [b""])[0]
