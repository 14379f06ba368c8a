"""A controller that holds a Lease writes only while it holds it."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from datetime import UTC, datetime
from typing import Any

from hardpoint.machinery.timestamps import format_micro_time
from hardpoint.runtime.promises import NotAsked, Promises, expect
from hardpoint.seams.controller.check.trial import LEASES, Bench, Trial
from hardpoint.seams.controller.check.undisturbed import undisturbed

Json = dict[str, Any]

RIVAL = "hardpoint-check-rival"
RIVAL_SECONDS = 600
"""For how long the rival's claim is good: longer than anybody waits."""
SECONDS_MAX = 20.0
"""No lease is waited for longer than this; client-go's usual one lasts 15 s."""

promises: Promises[Bench] = Promises()


@promises("it writes nothing once somebody else holds its lease, and goes on when it has it back")
async def _stops_leading(bench: Bench) -> None:
    if not any(each.is_of_a_lease for each in (await undisturbed(bench)).record.asked):
        raise NotAsked("it holds no Lease")
    async with bench.trial() as trial:
        await trial.create_objects()
        await trial.settle()
        lease = await _lease_it_holds(trial)
        await _take(trial, lease)
        await trial.pass_time(min(float(lease["spec"].get("leaseDurationSeconds") or 15), SECONDS_MAX))
        lost_at = trial.api.seconds
        await trial.create_objects(list(_one_more_of_each(bench)))
        await trial.pass_time(bench.settle_seconds)
        written = trial.record.writes(lost_at)
        expect(not written, f"wrote although {RIVAL} held its lease: {written[0] if written else ''}")
        await trial.free_leases()
        await trial.wait_until_it_writes()


def _one_more_of_each(bench: Bench) -> Iterator[Json]:
    """Another object of each kind that it was given."""
    for one in {(each["apiVersion"], each["kind"]): each for each in bench.objects}.values():
        more = deepcopy(one)
        more["metadata"]["name"] = "check-while-not-leading"
        yield more


async def _lease_it_holds(trial: Trial) -> Json:
    path = next(each for each in trial.record.asked if each.is_of_a_lease and each.method != "GET").where
    leases: list[Json] = (await trial.client.list(LEASES, namespace=path.namespace))["items"]
    held = [each for each in leases if each["spec"].get("holderIdentity")]
    expect(bool(held), "it wrote to a Lease and holds none")
    return held[0]


async def _take(trial: Trial, lease: Json) -> None:
    now = format_micro_time(datetime.now(UTC))
    claim = {
        "holderIdentity": RIVAL,
        "leaseDurationSeconds": RIVAL_SECONDS,
        "acquireTime": now,
        "renewTime": now,
        "leaseTransitions": (lease["spec"].get("leaseTransitions") or 0) + 1,
    }
    metadata = lease["metadata"]
    await trial.client.patch(LEASES, metadata["name"], {"spec": claim}, namespace=metadata["namespace"])
