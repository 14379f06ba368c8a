"""What the walk knows of limits: a request enters, is perhaps told to wait or to come back later, and leaves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from hardpoint.apiserver.target import Target
from hardpoint.machinery.messages import User

Headers = Sequence[tuple[str, str]]


class Overloaded(Exception):
    """There is no room for a request now."""

    def __init__(self, retry_after_seconds: int, headers: Headers = ()) -> None:
        super().__init__(f"no room; try again in {retry_after_seconds} s")
        self.retry_after_seconds = retry_after_seconds
        self.headers = headers


class Seat(Protocol):
    """A request that was let in."""

    headers: Headers
    """What its answer says about its flow."""

    def leave(self, answer_bytes: int | None = None) -> None:
        """Give the seat back, and tell how large the answer is, if there is one. Leaving twice is leaving once."""
        ...

    def leave_when_taken(self, answer_bytes: int) -> Callable[[], None]:
        """Keep the seat for a large answer; it is given back when what is returned here is called, or soon."""
        ...


class Limits(Protocol):
    """Lets requests in."""

    def enter(self, user: User, verb: str, where: Target) -> Seat | None:
        """A seat at once; None if the request has to wait."""
        ...

    async def wait(self, user: User, verb: str, where: Target) -> Seat:
        """A seat when there is one. Raises Overloaded."""
        ...

    def refuse(self) -> float:
        """How many seconds the answer to a request without good credentials is to be held back."""
        ...
