"""What a peer may ask of a connection. The numbers are kube-apiserver's where it has them."""

from __future__ import annotations

from typing import NamedTuple


class Limits(NamedTuple):
    """Bounds on size, on time and on number."""

    body_bytes_max: int = 3 * 1024 * 1024
    framing_bytes_spare: int = 512 * 1024
    """How much more a chunked body may take on the wire than twice its size."""
    head_bytes_max: int = 1024 * 1024
    headers_max: int = 4096
    """No client sends this many; the parser's callbacks for a megabyte of empty headers would hold up everybody."""
    connections_max: int = 10_000

    handshake_seconds: float = 10.0
    head_seconds: float = 32.0
    """From a request's first byte to the end of its headers."""
    idle_seconds: float = 90.0
    """Between requests."""
    body_bytes_per_second_min: int = 1000
    body_grace_seconds: float = 10.0
    """How long a body may stay below the rate before it is judged."""
    stall_seconds: float = 30.0
    """How long a client may take nothing of an answer that is waiting for it."""
    linger_seconds: float = 0.5
    """How long unread input is thrown away after a refusal, so that the client gets to read why."""

    @property
    def sweep_seconds(self) -> float:
        """How often connections are looked at: often enough to be a quarter late at most."""
        return min(1.0, min(self.head_seconds, self.idle_seconds, self.body_grace_seconds, self.stall_seconds) / 4)
