"""What can be said about limits, with kube-apiserver's numbers, and the limits that follow."""

from __future__ import annotations

from typing import NamedTuple

from hardpoint.apiserver.deadlines import REQUEST_SECONDS_MAX
from hardpoint.apiserver.flow.gate import Gate
from hardpoint.apiserver.flow.inflight import InFlight


class FlowOptions(NamedTuple):
    """How much is done at once, and for how long."""

    is_fair: bool = True
    """Whether FlowSchemas and PriorityLevelConfigurations count, or only the two numbers below."""
    reads_max: int = 400
    writes_max: int = 200
    request_seconds_max: float = REQUEST_SECONDS_MAX


def make_limits(options: FlowOptions) -> Gate | InFlight:
    """The limits; with Priority and Fairness the seats for reads and writes are shared."""
    if not options.is_fair:
        return InFlight(reads_max=options.reads_max, writes_max=options.writes_max)
    return Gate(options.reads_max + options.writes_max, wait_seconds_max=min(options.request_seconds_max / 4, 60.0))
