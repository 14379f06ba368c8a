"""`/version`: which Kubernetes release this server is compatible with, and what it is built of."""

from __future__ import annotations

import os
import sys
from functools import cache

import orjson

from hardpoint import __version__
from hardpoint.machinery import errors
from hardpoint.machinery.messages import Request, Response

MAJOR, MINOR = "1", "37"
GIT_VERSION = f"v{MAJOR}.{MINOR}.0"
"""The release whose API is served. Clients compare it with their own and with what a chart or operator asks for."""


@cache
def info() -> dict[str, str]:
    """The answer's fields. Those about Git and Go tell what stands in their place here."""
    return {
        "major": MAJOR,
        "minor": MINOR,
        "emulationMajor": MAJOR,
        "emulationMinor": MINOR,
        "minCompatibilityMajor": MAJOR,
        "minCompatibilityMinor": str(int(MINOR) - 1),
        "gitVersion": GIT_VERSION,
        "gitCommit": f"hardpoint-{__version__}",
        "gitTreeState": "",
        "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": "",
        "compiler": f"{sys.implementation.name} {sys.version.split()[0]}",
        "platform": _platform(),
    }


def respond(request: Request) -> Response | None:
    """The answer to `/version`, None for other paths. Raises 405."""
    if request.path.rstrip("/") != "/version":
        return None
    if request.method not in ("GET", "HEAD"):
        raise errors.method_not_allowed()
    return Response(200, _body())


@cache
def _body() -> bytes:
    return orjson.dumps(info(), option=orjson.OPT_INDENT_2)


_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


def _platform() -> str:
    """System and architecture in Go's words, as clients expect them."""
    machine = os.uname().machine
    return f"{sys.platform}/{_ARCHITECTURES.get(machine, machine)}"
