"""`pods/eviction`: a delete that asks the disruption budgets first."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace as with_changes
from typing import Any

from hardpoint.apiserver import answers, bodies, managers
from hardpoint.apiserver.admitting import admit_part
from hardpoint.apiserver.call import Call
from hardpoint.apiserver.delete import delete_object
from hardpoint.apiserver.get import find
from hardpoint.apiserver.objectmeta import is_terminating
from hardpoint.apiserver.options import DeleteOptions, WriteOptions, delete_options, write_options
from hardpoint.apiserver.places import place
from hardpoint.apiserver.update import replace_object
from hardpoint.machinery import errors, selectors
from hardpoint.machinery.messages import Response
from hardpoint.machinery.timestamps import format_time
from hardpoint.store.contract import Mismatch

Json = dict[str, Any]

_BYPASSING_PHASES = ("Pending", "Succeeded", "Failed")
_VIOLATES = "Cannot evict pod as it would violate the pod's disruption budget."
_UNOBSERVED_SECONDS = 10
_DISRUPTED_MAX = 2000


async def evict(call: Call) -> Response:
    """POST pods/x/eviction: 201 if the pod is on its way out, 429 if a budget has nothing to give now."""
    eviction = bodies.read(call, "policy/v1", "Eviction")
    name = call.target.name
    if eviction["metadata"].get("name", "") != name:
        raise errors.bad_request("name in URL does not match name in Eviction object")
    options = delete_options(eviction.get("deleteOptions"), {})
    query = write_options(call.request.query, kind="CreateOptions")
    options = options._replace(dry_run=options.dry_run or query.dry_run)
    await admit_part(call, eviction, dry_run=options.dry_run)
    pod = call.place.found(await find(call))
    if not _bypasses_budgets(pod):
        budgets = await _budgets_of(call, pod)
        if len(budgets) > 1:
            why = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
            raise errors.ApiError(500, "InternalError", why)
        for budget in budgets:
            await _spend(call, budget, pod, options)
    inner = with_changes(call, target=call.target._replace(subresource=""))
    await _mark(inner, options)
    await delete_object(inner, options)
    return answers.created(call)


def _bypasses_budgets(pod: Json) -> bool:
    return is_terminating(pod) or pod.get("status", {}).get("phase", "Pending") in _BYPASSING_PHASES


async def _budgets_of(call: Call, pod: Json) -> Sequence[Json]:
    kind = call.services.registry.find("policy", "v1", "poddisruptionbudgets")
    assert kind is not None, "a built-in kind"
    home = place(kind)
    page = await call.services.store.range(home.range_prefix(call.target.namespace))
    labels = pod["metadata"].get("labels") or {}
    budgets = (home.found(each) for each in page.items)
    return [
        budget
        for budget in budgets
        if budget["spec"].get("selector") is not None
        and selectors.from_label_selector(budget["spec"]["selector"]).matches(labels)
    ]


async def _spend(call: Call, budget: Json, pod: Json, options: DeleteOptions) -> None:
    """Take one disruption from the budget, or raise 429."""
    kind = call.services.registry.find("policy", "v1", "poddisruptionbudgets")
    assert kind is not None, "a built-in kind"
    home, store = place(kind), call.services.store
    key = home.key(call.target.namespace, budget["metadata"]["name"])
    while True:
        found = await store.get(key)
        if found is None:
            return
        current = home.found(found)
        status = current.setdefault("status", {})
        if status.get("observedGeneration", 0) < current["metadata"].get("generation", 0):
            raise _refused(current, "", retry_after_seconds=_UNOBSERVED_SECONDS)
        disrupted = status.setdefault("disruptedPods", {})
        if status.get("disruptionsAllowed", 0) <= 0 or len(disrupted) >= _DISRUPTED_MAX:
            raise _refused(current, _needs(status))
        status["disruptionsAllowed"] -= 1
        now = format_time(call.services.now())
        disrupted[pod["metadata"]["name"]] = now
        if options.dry_run:
            return
        managers.claim(kind, current, home.found(found), now=now, subresource="status")
        try:
            await store.update(key, home.dump(current), expected=found.revision)
        except Mismatch:
            continue
        return


def _needs(status: Json) -> str:
    return f"needs {status.get('desiredHealthy', 0)} healthy pods and has {status.get('currentHealthy', 0)} currently"


def _refused(budget: Json, needs: str, *, retry_after_seconds: int = 0) -> errors.ApiError:
    name = budget["metadata"]["name"]
    why = f"The disruption budget {name} {needs or 'is still being processed by the server.'}"
    cause = {"reason": "DisruptionBudget", "message": why}
    return errors.too_many_requests(_VIOLATES, retry_after_seconds=retry_after_seconds, details={"causes": [cause]})


async def _mark(call: Call, options: DeleteOptions) -> None:
    """Say on the pod why it goes, for those who look at it before it is gone."""
    now = format_time(call.services.now())

    async def successor(old: Json) -> Json:
        new = deepcopy(old)
        status = new.setdefault("status", {})
        others = [each for each in status.get("conditions") or [] if each["type"] != "DisruptionTarget"]
        target = {
            "type": "DisruptionTarget",
            "status": "True",
            "reason": "EvictionByEvictionAPI",
            "message": "Eviction API: evicting",
            "lastProbeTime": None,
            "lastTransitionTime": now,
        }
        status["conditions"] = [*others, target]
        return new

    await replace_object(call, successor, WriteOptions(dry_run=options.dry_run), raw=True)
