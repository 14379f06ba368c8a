"""What the controllers of one process share: one connection, one cache, one voice, one clock."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal, Protocol

from hardpoint.client.client import Client
from hardpoint.client.options import ALL_NAMESPACES
from hardpoint.runtime.changes import Key
from hardpoint.runtime.controllermetrics import ControllerMetrics
from hardpoint.runtime.informers import Informers


class Recorder(Protocol):
    """Who tells people what happened; `recorder.py` has the one that makes Events."""

    def event(
        self,
        about: dict[str, Any],
        type: Literal["Normal", "Warning"],
        reason: str,
        message: str,
        *,
        action: str = "",
    ) -> None:
        """Tell it, waiting for nothing and raising nothing."""
        ...


class Share(Protocol):
    """This process's part of the keys; `sharding.py` has the one that replicas agree on."""

    def owns(self, key: Key) -> bool: ...

    def holding(self, key: Key) -> AbstractAsyncContextManager[None]:
        """Work on a key, which is nobody else's meanwhile. Raises ShardLost if it is not ours, or not any more."""
        ...


@dataclass(frozen=True, slots=True)
class Environment:
    """Where controllers run."""

    client: Client
    informers: Informers
    recorder: Recorder
    namespace: str = ALL_NAMESPACES
    """Where controllers look that do not say it themselves."""
    dry_run: bool = False
    """Whether writes are only asked about, and told."""
    share: Share | None = None
    """Which keys are this process's, where several share the work."""
    metrics: ControllerMetrics = field(default_factory=ControllerMetrics)
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
