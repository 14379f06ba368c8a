"""The flags about limits, with kube-apiserver's names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from hardpoint.cli.authentication import DURATION
from hardpoint.cli.collecting import collected

if TYPE_CHECKING:
    from hardpoint.apiserver.flow.options import FlowOptions

_FLAGS = (
    click.option(
        "--enable-priority-and-fairness",
        type=bool,
        is_flag=False,
        flag_value=True,
        default=True,
        metavar="BOOL",
        help="Whether FlowSchemas and PriorityLevelConfigurations count.  [default: true]",
    ),
    click.option(
        "--max-requests-inflight",
        type=click.IntRange(min=0),
        default=400,
        show_default=True,
        help="How many reads are under way at once; with priority and fairness, seats.",
    ),
    click.option(
        "--max-mutating-requests-inflight",
        type=click.IntRange(min=0),
        default=200,
        show_default=True,
        help="How many writes are under way at once; with priority and fairness, more seats.",
    ),
    click.option(
        "--request-timeout", type=DURATION, default="1m", show_default=True, help="How long a request may take."
    ),
)


def _options(given: dict[str, Any]) -> FlowOptions:
    from hardpoint.apiserver.flow.options import FlowOptions

    is_fair, reads, writes = (
        given["enable_priority_and_fairness"],
        given["max_requests_inflight"],
        given["max_mutating_requests_inflight"],
    )
    if is_fair and reads + writes == 0:
        raise click.UsageError("--max-requests-inflight and --max-mutating-requests-inflight cannot both be 0")
    if given["request_timeout"] <= 0:
        raise click.UsageError("--request-timeout must be more than 0s")
    return FlowOptions(
        is_fair=is_fair, reads_max=reads, writes_max=writes, request_seconds_max=given["request_timeout"]
    )


flags = collected(_FLAGS, "flow", _options)
"""The command gets `flow`."""
