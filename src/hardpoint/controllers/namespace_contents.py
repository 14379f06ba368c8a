"""One attempt to empty a namespace: everything that can be deleted in it is, and what stays is counted.

Pods go first, and nothing else goes before the last of them: they may rely on it to the end.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from hardpoint.client.client import Client
from hardpoint.client.resources import Resource
from hardpoint.client.transport import TransportError
from hardpoint.controllers.absence import object_is_absent
from hardpoint.controllers.namespace_conditions import Findings
from hardpoint.machinery.errors import ApiError
from hardpoint.machinery.kinds import Kind

Json = dict[str, Any]

FINALIZERS_SECONDS = 15.0
"""How long finalizers are given before we look again, if nothing is heard of them."""
_NOT_SERVED = (404, 405)
_DONE_PHASES = ("Succeeded", "Failed")


async def empty(client: Client, namespace: str, elapsed: timedelta) -> Findings:
    """Delete what is in a namespace whose deletion began `elapsed` ago. What goes wrong is found, not raised."""
    findings = Findings()
    kinds = await _discover(client, findings)
    for turn in (_pods(kinds), _others(kinds)):
        for kind in turn:
            await _empty_of(client, kind, namespace, elapsed, findings)
        if findings.remaining or findings.failures:
            break
    return findings


async def _discover(client: Client, findings: Findings) -> list[Kind]:
    """What can be deleted in a namespace, asked anew: what is overlooked here would outlive it."""
    try:
        kinds = await client.discovery.refresh()
    except (ApiError, TransportError) as failure:
        findings.undiscovered = str(failure)
        return []
    if failed := client.discovery.failed:
        told = ", ".join(f"{version}: stale GroupVersion discovery: {version}" for version in failed)
        findings.undiscovered = (
            f"Discovery failed for some groups, {len(failed)} failing: "
            f"unable to retrieve the complete list of server APIs: {told}"
        )
    return _deletable(kinds)


def _deletable(kinds: Iterable[Kind]) -> list[Kind]:
    found: dict[str, Kind] = {}
    for kind in kinds:
        if kind.namespaced and {"delete", "list"}.issubset(kind.verbs):
            found.setdefault(kind.resource, kind)
    return list(found.values())


def _pods(kinds: Iterable[Kind]) -> list[Kind]:
    return [kind for kind in kinds if kind.resource == "pods"]


def _others(kinds: Iterable[Kind]) -> list[Kind]:
    return [kind for kind in kinds if kind.resource != "pods"]


async def _empty_of(client: Client, kind: Kind, namespace: str, elapsed: timedelta, findings: Findings) -> None:
    """Delete one kind's objects, and note what is left of them and for how long."""
    resource, is_pod = Resource.of(kind), kind.resource == "pods"
    try:
        before = await client.list(resource, namespace=namespace, metadata_only=not is_pod)
        if not before["items"]:
            return
        await _delete_all(client, kind, namespace, before["items"])
        left = (await client.list(resource, namespace=namespace, metadata_only=True))["items"]
    except (ApiError, TransportError) as failure:
        # What discovery lists but nobody serves holds nothing that could be deleted.
        if not (isinstance(failure, ApiError) and failure.code in _NOT_SERVED):
            findings.failures.append(str(failure))
        return
    if not left:
        return
    findings.add_remaining(kind, left)
    seconds = _grace_seconds_left(before["items"], elapsed) if is_pod else 0.0
    if not seconds and any(item["metadata"].get("finalizers") for item in left):
        seconds = FINALIZERS_SECONDS
    if not seconds:
        where = f"{kind.group}/{kind.version}, Resource={kind.plural}"
        findings.failures.append(f"unexpected items still remain in namespace: {namespace} for gvr: {where}")
    findings.estimate_seconds = max(findings.estimate_seconds, seconds)


async def _delete_all(client: Client, kind: Kind, namespace: str, items: Iterable[Json]) -> None:
    resource = Resource.of(kind)
    if "deletecollection" in kind.verbs:
        await client.delete_collection(resource, namespace=namespace, propagation="Background")
        return
    for item in items:
        name = item["metadata"]["name"]
        try:
            await client.delete(resource, name, namespace=namespace, propagation="Background")
        except ApiError as refused:
            if not object_is_absent(refused, name):
                raise


def _grace_seconds_left(pods: Iterable[Json], elapsed: timedelta) -> float:
    """The longest that a pod may still take to end in good order; 0 if all of them should be gone by now."""
    running = (pod["spec"] for pod in pods if (pod.get("status") or {}).get("phase") not in _DONE_PHASES)
    longest = max((spec.get("terminationGracePeriodSeconds") or 0 for spec in running), default=0)
    return float(longest) if elapsed.total_seconds() < longest else 0.0
