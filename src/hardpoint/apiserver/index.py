"""`/`: the list of paths this server answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import orjson

from hardpoint.machinery import errors
from hardpoint.machinery.messages import Request, Response


class Index:
    """Lists the paths that each of `sources` names at the time of asking."""

    def __init__(self, *sources: Callable[[], Iterable[str]]) -> None:
        self._sources: Sequence[Callable[[], Iterable[str]]] = sources

    def respond(self, request: Request) -> Response | None:
        """The index for `/` and `/index.html`, None for other paths. Raises 405."""
        if request.path not in ("", "/", "/index.html"):
            return None
        if request.method not in ("GET", "HEAD"):
            raise errors.method_not_allowed()
        paths = sorted({path for source in self._sources for path in source()})
        return Response(200, orjson.dumps({"paths": paths}, option=orjson.OPT_INDENT_2))
