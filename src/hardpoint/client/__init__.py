"""Talk to any Kubernetes API server: over HTTPS with a kubeconfig, or in-process with a handler.

    async with Client.from_kubeconfig() as client:
        pods = await client.list("pods")

- `client` has the verbs, over `collection` (lists, watches), `discovery` (what a server has), `resources`, `options`.
- `watch` follows a collection for ever; `picture` is its state machine, `events` and `backoff` its parts.
- `transport` says what carries a request: `http` (over `pool`, `connection`, `tls`, `inflate`) or `inprocess`, each
  wrapped in `retries`; `answers` reads what comes back.
- `kubeconfig` (over `filechange`), `endpoint` and `credentials` know where a server is and how it knows us.

The names below are imported when they are first used: whoever wants only a kubeconfig does not pay for the rest.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hardpoint.client.client import Client
    from hardpoint.client.events import Event
    from hardpoint.client.resources import Resource

__all__ = ["Client", "Event", "Resource"]

_HOMES = {"Client": "client", "Event": "events", "Resource": "resources"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
