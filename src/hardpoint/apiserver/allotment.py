"""Cluster IPs and node ports: given to one Service at a time, and given back.

The store itself keeps what is taken: an IPAddress object for each cluster IP, a key for each node port. Taking one is
creating its key, which only one can do; nothing is counted in memory, and a crash between two writes leaves at worst a
number that stays reserved.
"""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from ipaddress import IPv4Network, ip_address
from typing import Any

from hardpoint.apiserver import managers
from hardpoint.apiserver.objectmeta import new_uid
from hardpoint.apiserver.places import ROOT
from hardpoint.machinery import errors, fielderrors, kinds
from hardpoint.machinery.fielderrors import FieldError
from hardpoint.machinery.stored import to_stored
from hardpoint.store.contract import KeyExists, Mismatch, Store

Json = dict[str, Any]
Take = Callable[[str], Awaitable[bool]]
"""Tries to take one IP or port; whether it is ours now."""

SERVICE_NETWORK = IPv4Network("10.96.0.0/16")
NODE_PORTS = range(30000, 32768)
_RANDOM_ATTEMPTS = 32
_IP_PREFIX = f"{ROOT}networking.k8s.io/ipaddresses/"
_PORT_PREFIX = f"{ROOT}ranges/servicenodeports/"
_FAMILY = "IPv4"
_LABELS = {
    "ipaddress.kubernetes.io/ip-family": _FAMILY,
    "ipaddress.kubernetes.io/managed-by": "ipallocator.k8s.io",
}
_HEALTH_CHECK = "healthCheckNodePort"
_REFUSALS = (errors.ApiError, KeyExists, Mismatch)
_WITH_NODE_PORTS = ("NodePort", "LoadBalancer")


class ServiceAllotter:
    """Allots a Service its cluster IP and its node ports."""

    def __init__(self, store: Store, now: Callable[[], str]) -> None:
        self._store = store
        self._now = now

    @asynccontextmanager
    async def allot(self, obj: Json, old: Json | None, *, dry_run: bool) -> AsyncIterator[None]:
        """Take what the Service needs and does not have; on an error give it back, else give back what it left."""
        taken: list[str] = []
        try:
            await self._cluster_ip(obj, old, taken, dry_run=dry_run)
            await self._node_ports(obj, old, taken, dry_run=dry_run)
            await self._health_check_port(obj, old, taken, dry_run=dry_run)
            yield
        except _REFUSALS:
            # Only what was surely not stored gives back. After a timeout or a lost answer the Service may be there, and
            # a number that stays reserved is better than one that two Services have.
            await self._give_back(taken)
            raise
        if old is not None and not dry_run:
            await self._give_back(_held(old) - _held(obj))

    async def release(self, obj: Json) -> None:
        await self._give_back(_held(obj))

    async def _give_back(self, keys: set[str] | list[str]) -> None:
        for key in keys:
            found = await self._store.get(key)
            if found is not None:
                try:
                    await self._store.delete(key, expected=found.revision)
                except Mismatch:
                    continue

    async def _cluster_ip(self, obj: Json, old: Json | None, taken: list[str], *, dry_run: bool) -> None:
        spec = obj["spec"]
        if spec.get("type") == "ExternalName":
            return
        asked = spec.get("clusterIP", "")
        if old is not None and (policy := old["spec"].get("ipFamilyPolicy")):
            # Nobody goes from one family to two, or back, by saying nothing.
            spec.setdefault("ipFamilyPolicy", policy)
        if asked != "None" or spec.get("selector"):
            _check_families(obj)
        if asked != "None" and (old is None or not asked or asked != old["spec"].get("clusterIP")):
            take = self._taker(_IP_PREFIX, taken, dry_run=dry_run, body=lambda ip: self._address(ip, obj))
            if asked:
                await self._take_asked_ip(obj, asked, take, dry_run=dry_run)
            else:
                spec["clusterIP"] = await _first_free(take, _random_addresses(), "no free cluster IP is left")
        spec["clusterIPs"] = [spec["clusterIP"]]
        is_anything = asked == "None" and not spec.get("selector")
        if is_anything and spec.setdefault("ipFamilyPolicy", "RequireDualStack") != "SingleStack":
            # Nobody knows what its endpoints will be, so they may be of either family.
            spec["ipFamilies"] = list(dict.fromkeys((*spec.get("ipFamilies", ()), "IPv4", "IPv6")))
        spec.setdefault("ipFamilies", [_FAMILY])
        spec.setdefault("ipFamilyPolicy", "SingleStack")

    async def _take_asked_ip(self, obj: Json, asked: str, take: Take, *, dry_run: bool) -> None:
        address = ip_address(asked)
        edges = (SERVICE_NETWORK.network_address, SERVICE_NETWORK.broadcast_address)
        if address not in SERVICE_NETWORK or address in edges:
            valid = f"is not in the valid range. The range of valid IPs is {SERVICE_NETWORK}"
            other = "the provided network does not match the current range"
            # Another allocator answers when nothing is to be kept.
            why = f"the provided IP ({asked}) {valid}" if dry_run or address in edges else other
            why = f"failed to allocate IP {asked}: {why}"
            raise _invalid(obj, fielderrors.invalid("spec.clusterIPs", [asked], why))
        if not await take(asked):
            why = f"failed to allocate IP {asked}: provided IP is already allocated"
            raise _invalid(obj, fielderrors.invalid("spec.clusterIPs", [asked], why))

    async def _node_ports(self, obj: Json, old: Json | None, taken: list[str], *, dry_run: bool) -> None:
        spec = obj["spec"]
        if spec.get("type") not in _WITH_NODE_PORTS or spec.get("allocateLoadBalancerNodePorts") is False:
            return
        held = _held(old) if old else set()
        take = self._taker(_PORT_PREFIX, taken, dry_run=dry_run, body=lambda port: port.encode())
        for number, port in enumerate(spec.get("ports", ())):
            asked = port.get("nodePort", 0)
            if not asked:
                free = await _first_free(take, _random_ports(), "no free node port is left")
                port["nodePort"] = int(free)
            elif f"{_PORT_PREFIX}{asked}" not in held:
                await _take_asked_port(obj, f"spec.ports[{number}].nodePort", asked, take, dry_run=dry_run)

    async def _health_check_port(self, obj: Json, old: Json | None, taken: list[str], *, dry_run: bool) -> None:
        """Where a load balancer asks which nodes have endpoints."""
        spec = obj["spec"]
        if spec.get("type") != "LoadBalancer" or spec.get("externalTrafficPolicy") != "Local":
            return
        take = self._taker(_PORT_PREFIX, taken, dry_run=dry_run, body=lambda port: port.encode())
        asked = spec.get(_HEALTH_CHECK, 0)
        if not asked:
            spec[_HEALTH_CHECK] = int(await _first_free(take, _random_ports(), "no free node port is left"))
        elif old is None or f"{_PORT_PREFIX}{asked}" not in _held(old):
            await _take_asked_port(obj, f"spec.{_HEALTH_CHECK}", asked, take, dry_run=dry_run)

    def _taker(self, prefix: str, taken: list[str], *, dry_run: bool, body: Callable[[str], bytes]) -> Take:
        async def take(what: str) -> bool:
            key = prefix + what
            if dry_run:
                # Nothing is kept, so nothing is taken from others.
                return True
            try:
                await self._store.create(key, body(what))
            except KeyExists:
                return False
            taken.append(key)
            return True

        return take

    def _address(self, ip: str, service: Json) -> bytes:
        metadata = service["metadata"]
        parent = {"resource": "services", "namespace": metadata["namespace"], "name": metadata["name"]}
        address = {
            "apiVersion": "networking.k8s.io/v1",
            "kind": "IPAddress",
            "metadata": {"name": ip, "uid": new_uid(), "creationTimestamp": self._now(), "labels": _LABELS},
            "spec": {"parentRef": parent},
        }
        kind = kinds.by_kind("networking.k8s.io/v1", "IPAddress")
        assert kind is not None, "a built-in kind"
        managers.claim(kind, address, None, now=self._now())
        return to_stored(address)


def _check_families(obj: Json) -> None:
    """There are addresses of one family only. Raises 422 for a Service that insists on others."""
    spec = obj["spec"]
    wrong = [
        fielderrors.invalid(f"spec.ipFamilies[{number}]", family, "not configured on this cluster")
        for number, family in enumerate(spec.get("ipFamilies", ()))
        if family != _FAMILY
    ]
    if spec.get("ipFamilyPolicy") == "RequireDualStack":
        why = "this cluster is not configured for dual-stack services"
        wrong.insert(0, fielderrors.invalid("spec.ipFamilyPolicy", "RequireDualStack", why))
    if wrong:
        raise _invalid(obj, *wrong)


async def _take_asked_port(obj: Json, field: str, asked: int, take: Take, *, dry_run: bool) -> None:
    if dry_run:
        return
    if asked not in NODE_PORTS:
        why = (
            "provided port is not in the valid range. "
            f"The range of valid ports is {NODE_PORTS.start}-{NODE_PORTS.stop - 1}"
        )
        raise _invalid(obj, fielderrors.invalid(field, asked, why))
    if not await take(str(asked)):
        raise _invalid(obj, fielderrors.invalid(field, asked, "provided port is already allocated"))


def _held(service: Json) -> set[str]:
    """The keys a Service holds."""
    spec = service["spec"]
    held = {f"{_PORT_PREFIX}{port['nodePort']}" for port in spec.get("ports", ()) if port.get("nodePort")}
    if spec.get(_HEALTH_CHECK):
        held.add(f"{_PORT_PREFIX}{spec[_HEALTH_CHECK]}")
    if spec.get("clusterIP", "None") != "None":
        held.add(_IP_PREFIX + spec["clusterIP"])
    return held


def _random_addresses() -> Iterator[str]:
    # The first addresses are left to those who ask for one by name, as Kubernetes does.
    first, last = int(SERVICE_NETWORK.network_address) + 256, int(SERVICE_NETWORK.broadcast_address) - 1
    for _ in range(_RANDOM_ATTEMPTS):
        yield str(ip_address(random.randint(first, last)))  # noqa: S311 # not a secret
    for number in range(first, last + 1):
        yield str(ip_address(number))


def _random_ports() -> Iterator[str]:
    for _ in range(_RANDOM_ATTEMPTS):
        yield str(random.choice(NODE_PORTS))  # noqa: S311 # not a secret
    yield from map(str, NODE_PORTS)


async def _first_free(take: Take, candidates: Iterator[str], none_left: str) -> str:
    for candidate in candidates:
        if await take(candidate):
            return candidate
    raise errors.internal_error(none_left)


def _invalid(obj: Json, *wrong: FieldError) -> errors.ApiError:
    return errors.invalid("Service", obj["metadata"]["name"], wrong)
