"""How long a request may take: what the client wishes, within what the server allows."""

from __future__ import annotations

from hardpoint.apiserver import options, target
from hardpoint.apiserver.target import Target
from hardpoint.machinery import durations, errors
from hardpoint.machinery.messages import Request

REQUEST_SECONDS_MAX = 60.0
WRITE_SECONDS_MAX = 34.0
_SHORTEST_SECONDS = 0.001


class Deadlines:
    """The server's limits. What runs long has none."""

    def __init__(self, request_seconds_max: float = REQUEST_SECONDS_MAX) -> None:
        write_seconds_max = min(request_seconds_max, WRITE_SECONDS_MAX)
        self._request_seconds_max = request_seconds_max
        # A single object is read at once or not at all; a timer would cost as much as the look-up.
        self._unwished = {"get": None, "list": request_seconds_max}
        self._otherwise = write_seconds_max

    def seconds(self, request: Request, where: Target, verb: str) -> float | None:
        """How long this request may take; None if it is not timed. Raises 400, or TimeoutError for no time at all."""
        if target.runs_long(where, verb):
            return None
        limit = self._unwished.get(verb, self._otherwise)
        if "timeout=" not in request.query:
            return limit
        text = options.first(options.parse_query(request.query), "timeout")
        if not text:
            return limit
        try:
            seconds = durations.parse(text) / 1e9
        except durations.BadDuration as wrong:
            raise errors.bad_request(f"invalid timeout specified in the request URL - {wrong}") from wrong
        if seconds <= 0:
            return limit
        if seconds < _SHORTEST_SECONDS:
            raise TimeoutError
        return min(seconds, limit or self._request_seconds_max)
