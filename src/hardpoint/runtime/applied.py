"""What was applied before: whoever wants the same again of an object that did not change since need not ask for it.

The server would find nothing to do either, but would have to be asked. That the object did not change is known from
its resourceVersion, which every change moves. Only the last objects are remembered; a restart remembers none.
"""

from __future__ import annotations

from collections import OrderedDict
from hashlib import blake2b
from typing import Any

import orjson

Json = dict[str, Any]

REMEMBERED_MAX = 100_000


class Applied:
    """Which body was applied to which object, and the resourceVersion it has since."""

    def __init__(self, remembered_max: int = REMEMBERED_MAX) -> None:
        self._max = remembered_max
        self._known: OrderedDict[str, tuple[bytes, str]] = OrderedDict()

    def is_same(self, uid: str, digest: bytes, resource_version: str) -> bool:
        """Whether this very body was the last one applied, and the object is as it was then."""
        return self._known.get(uid) == (digest, resource_version)

    def remember(self, uid: str, digest: bytes, resource_version: str) -> None:
        self._known[uid] = (digest, resource_version)
        self._known.move_to_end(uid)
        if len(self._known) > self._max:
            self._known.popitem(last=False)


def digest_of(body: Json, *, force: bool) -> bytes:
    """A short name for a body; the order of its keys does not count."""
    return blake2b(orjson.dumps((body, force), option=orjson.OPT_SORT_KEYS), digest_size=16).digest()
