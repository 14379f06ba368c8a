"""`/healthz`, `/livez` and `/readyz`: is the server alive, may it be sent requests, and if not, which part says so.

A check is an async function that returns when all is well and raises when not. Its reason is withheld on the
summaries, which anybody may read, and told on the check's own path. Names and texts are kube-apiserver's.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from urllib.parse import parse_qs

import orjson

from hardpoint.machinery import errors
from hardpoint.machinery.messages import Request, Response

log = logging.getLogger(__name__)

Check = Callable[[], Awaitable[None]]

PATIENCE_SECONDS = 2.0
"""A check that takes longer has failed."""

TEXT = "text/plain; charset=utf-8"
_PLAIN = (("X-Content-Type-Options", "nosniff"),)


@dataclass(frozen=True, slots=True)
class _Named:
    name: str
    check: Check
    live: bool
    ready: bool


class Health:
    """The checks, in the order they were added. `ping` and `log` are always there."""

    def __init__(self) -> None:
        self._checks: dict[str, _Named] = {}
        self.add("ping", _ping)
        self.add("log", _log)

    def add(self, name: str, check: Check, live: bool = True, ready: bool = True) -> None:
        """Ask `check` for /livez (and /healthz), for /readyz, or for both. An earlier check of that name goes."""
        self._checks[name] = _Named(name, check, live, ready)

    def hook(self, name: str) -> Callable[[], None]:
        """Add `poststarthook/<name>`, which fails until the function returned here is called."""
        finished = False

        def finish() -> None:
            nonlocal finished
            finished = True

        async def check() -> None:
            if not finished:
                raise NotFinished("not finished")

        self.add(f"poststarthook/{name}", check)
        return finish

    def paths(self) -> list[str]:
        """Every path that is answered, for the index."""
        return [
            path
            for endpoint in _CONCERNS
            for path in (f"/{endpoint}", *(f"/{endpoint}/{check.name}" for check in self._of(endpoint)))
        ]

    async def respond(self, request: Request) -> Response | None:
        """The answer, or None for a path that is not a health path or names no check. Raises 405."""
        endpoint, slash, name = request.path.removeprefix("/").partition("/")
        if endpoint not in _CONCERNS or (slash and not name):
            return None
        checks = self._of(endpoint)
        if name:
            checks = [check for check in checks if check.name == name]
            if not checks:
                return None
        if request.method not in ("GET", "HEAD"):
            raise errors.method_not_allowed()
        if name:
            return _told(await _failure(checks[0]))
        query = parse_qs(request.query, keep_blank_values=True)
        return await _summary(endpoint, checks, excluded=query.get("exclude", ()), verbose="verbose" in query)

    def _of(self, endpoint: str) -> list[_Named]:
        concerns = _CONCERNS[endpoint]
        return [check for check in self._checks.values() if concerns(check)]


class NotFinished(Exception):
    """A hook that runs after the start is still running."""


_CONCERNS: dict[str, Callable[[_Named], bool]] = {
    "healthz": lambda check: check.live,
    "livez": lambda check: check.live,
    "readyz": lambda check: check.ready,
}


async def _summary(endpoint: str, checks: list[_Named], *, excluded: Iterable[str], verbose: bool) -> Response:
    """All the checks in one answer: `ok`, or a line for each when one failed or the lines were asked for."""
    left_out = set(excluded)
    asked = [check for check in checks if check.name not in left_out]
    failures = dict(zip(asked, await asyncio.gather(*map(_failure, asked)), strict=True))
    lines = [_line(check, failures) for check in checks]
    unknown = sorted(left_out - {check.name for check in checks})
    if unknown:
        # Whatever was sent comes back quoted, so that it cannot pass for a line of ours.
        quoted = ",".join(orjson.dumps(name).decode() for name in unknown)
        lines.append(f"warn: some health checks cannot be excluded: no matches for {quoted}")
    failed = [check.name for check in asked if failures[check] is not None]
    if failed:
        log.info("health check failed", extra={"endpoint": endpoint, "checks": failed})
        return Response(500, "\n".join([*lines, f"{endpoint} check failed\n"]).encode(), TEXT, _PLAIN)
    if not verbose:
        return Response(200, b"ok", TEXT, _PLAIN)
    return Response(200, "\n".join([*lines, f"{endpoint} check passed\n"]).encode(), TEXT, _PLAIN)


def _line(check: _Named, failures: dict[_Named, Exception | None]) -> str:
    if check not in failures:
        return f"[+]{check.name} excluded: ok"
    if failures[check] is not None:
        return f"[-]{check.name} failed: reason withheld"
    return f"[+]{check.name} ok"


def _told(failure: Exception | None) -> Response:
    """A single check's answer, with its reason."""
    if failure is None:
        return Response(200, b"ok", TEXT)
    return Response(500, f"internal server error: {failure}\n".encode(), TEXT, _PLAIN)


async def _failure(check: _Named) -> Exception | None:
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            await check.check()
    except TimeoutError:
        return TimeoutError(f"no answer in {PATIENCE_SECONDS:g} s")
    except Exception as failure:  # noqa: BLE001 - whatever a check raises is its answer.
        return failure
    return None


async def _ping() -> None:
    """Being asked is the check: the event loop turns."""


async def _log() -> None:
    """What was logged can be written where it goes."""
    for handler in logging.getLogger().handlers:
        handler.flush()
