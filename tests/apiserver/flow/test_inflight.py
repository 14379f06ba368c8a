"""The simple limits: so many reads, so many writes."""

from __future__ import annotations

import pytest

from hardpoint.apiserver import target
from hardpoint.apiserver.flow.contract import Overloaded
from hardpoint.apiserver.flow.inflight import InFlight
from hardpoint.machinery.messages import User

JANE = User("jane")
WHERE = target.parse("/api/v1/nodes")


async def test_reads_and_writes_are_counted_apart() -> None:
    limits = InFlight(reads_max=1, writes_max=1)
    read, write = limits.enter(JANE, "get", WHERE), limits.enter(JANE, "create", WHERE)
    assert read is not None
    assert write is not None
    assert limits.enter(JANE, "list", WHERE) is None
    assert limits.enter(JANE, "patch", WHERE) is None
    with pytest.raises(Overloaded) as full:
        await limits.wait(JANE, "get", WHERE)
    assert full.value.retry_after_seconds == 1
    read.leave()
    read.leave()
    assert limits.enter(JANE, "get", WHERE) is not None
    assert limits.enter(JANE, "get", WHERE) is None


def test_masters_always_get_an_answer() -> None:
    limits = InFlight(reads_max=1, writes_max=1)
    assert limits.enter(JANE, "get", WHERE) is not None
    assert limits.enter(User("admin", ("system:masters",)), "get", WHERE) is not None


def test_none_is_without_limit() -> None:
    limits = InFlight(reads_max=0, writes_max=1)
    assert all(limits.enter(JANE, "get", WHERE) for _ in range(1000))
