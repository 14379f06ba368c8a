"""What a queue tells those who measure it. How much waits and what is under way, the queue itself can be asked."""

from __future__ import annotations

from typing import Protocol


class QueueMetrics(Protocol):
    """Is called on the event loop for each item, and must not wait."""

    def added(self) -> None:
        """An item became due that was not."""
        ...

    def taken(self, waited_seconds: float) -> None:
        """A look at an item begins, so long after it became due."""
        ...

    def finished(self, worked_seconds: float) -> None:
        """A look is over, whatever came of it."""
        ...

    def retried(self) -> None:
        """An item has to be looked at again, since the look failed or did not settle it."""
        ...


class Unmeasured:
    """Nobody measures."""

    def added(self) -> None: ...

    def taken(self, waited_seconds: float) -> None: ...

    def finished(self, worked_seconds: float) -> None: ...

    def retried(self) -> None: ...


_conforms: type[QueueMetrics] = Unmeasured
