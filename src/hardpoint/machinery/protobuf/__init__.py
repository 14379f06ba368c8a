"""Protobuf bodies of built-in kinds, decoded into the JSON values that stand for the same objects.

A body is the magic `k8s\\0` and a runtime.Unknown: apiVersion and kind, and the object's own message. Fields are found
by number in the rows of `shapes`. What Go leaves out of the JSON, or writes although it is not on the wire, is settled
by `Shape.decode`, which every body passes next.

Messages nest at most 100 levels deep, and nothing is allocated for a length that the body does not have.
"""

from __future__ import annotations

from typing import Any

from hardpoint.machinery.protobuf import messages
from hardpoint.machinery.protobuf.messages import MAGIC
from hardpoint.machinery.protobuf.wire import DEPTH_MAX, BadProtobuf

__all__ = ["DEPTH_MAX", "MAGIC", "BadProtobuf", "decode"]


def decode(body: bytes, default_api_version: str = "", default_kind: str = "") -> dict[str, Any]:
    """The object in a body, with `apiVersion` and `kind`; the defaults stand in for those it does not name.

    Raises BadProtobuf.
    """
    return messages.envelope(body, 0, len(body), 0, default_api_version, default_kind)
