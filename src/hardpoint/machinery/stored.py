"""How an object looks in the store and how it leaves it, without being decoded in between.

A stored value is JSON that begins with apiVersion, kind and metadata, in this order, and has no resourceVersion: that
is the revision of the write that stored it. The wire form is the same bytes with the resourceVersion put in right
after the metadata's opening brace, so a read costs one search in the first bytes and one copy.
"""

from __future__ import annotations

from typing import Any

import orjson

from hardpoint.machinery.jsontext import encode

Json = dict[str, Any]

_METADATA = b'"metadata":{'
_METADATA_LENGTH = len(_METADATA)


def to_stored(obj: Json) -> bytes:
    """An object as it is stored. Its metadata must not be empty, which the server's own fields see to."""
    metadata = obj["metadata"]
    if "resourceVersion" in metadata:
        metadata = {name: value for name, value in metadata.items() if name != "resourceVersion"}
    return encode({"apiVersion": obj["apiVersion"], "kind": obj["kind"], "metadata": metadata} | _body(obj))


def _body(obj: Json) -> Json:
    return {name: value for name, value in obj.items() if name not in ("apiVersion", "kind", "metadata")}


def to_wire(value: bytes, revision: int) -> bytes:
    """A stored value as clients see it."""
    cut = value.index(_METADATA) + _METADATA_LENGTH
    return b'%b"resourceVersion":"%d",%b' % (value[:cut], revision, value[cut:])


def to_item(value: bytes, revision: int) -> bytes:
    """A stored value as an item of a list of built-in objects, which leave out apiVersion and kind."""
    cut = value.index(_METADATA) + _METADATA_LENGTH
    return b'{"metadata":{"resourceVersion":"%d",%b' % (revision, value[cut:])


def to_object(value: bytes, revision: int) -> Json:
    """A stored value as an object of its own, free to be changed."""
    obj: Json = orjson.loads(value)
    obj["metadata"]["resourceVersion"] = str(revision)
    return obj
