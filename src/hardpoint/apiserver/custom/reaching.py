"""Where the webhook of a definition is: at an address, or behind a Service.

A cluster of ours has no proxy that makes a ClusterIP go anywhere, so one of the Service's ready endpoints is asked, and
the ClusterIP only where nobody keeps endpoints. Either way its certificate must be for `<service>.<namespace>.svc`.

Whoever may write definitions chooses whom this server asks. A name is looked up once, and where it leads is looked at
before we connect there: nothing behind the addresses that clouds keep for their own secrets is ever a webhook.
"""

from __future__ import annotations

import asyncio
import binascii
import random
import socket
from base64 import b64decode
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache, partial
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import Any

from hardpoint.apiserver.reader import StoreReader
from hardpoint.client.endpoint import Endpoint
from hardpoint.client.webhook import Webhook, endpoint_at
from hardpoint.machinery.errors import ConfigError
from hardpoint.machinery.fielderrors import quote

Json = dict[str, Any]

PORT_DEFAULT = 443
ANSWER_BYTES_MAX = 16 * 1024 * 1024
"""What comes back is about as large as what was sent, unless somebody wants our memory."""
LOOKUPS_MAX = 4
LOOKUP_SECONDS_MAX = 10.0
PLACES_MAX = 64
"""Connections are kept to so many places: endpoints come and go."""
_ROUTED = ("ClusterIP", "LoadBalancer", "NodePort")
_NAT64, _COMPATIBLE = IPv6Network("64:ff9b::/96"), IPv6Network("::/96")
_METADATA = ip_address("fd00:ec2::254")
"""Where a cloud answers over IPv6 what it answers at a link-local address over IPv4."""


def url_of(config: Json) -> str:
    """The address of a clientConfig, as errors call it."""
    service = config.get("service")
    if service is None:
        return str(config.get("url", ""))
    port = service.get("port") or PORT_DEFAULT
    return f"https://{service['name']}.{service['namespace']}.svc:{port}{service.get('path') or '/'}"


class Reach:
    """Finds the webhook of one clientConfig, and keeps the connections to where it was last."""

    def __init__(self, seam: str, config: Json, reader: StoreReader) -> None:
        self._seam = seam
        self._config = config
        self._reader = reader
        self._webhooks: dict[tuple[str, int], Webhook] = {}

    async def __call__(self) -> Webhook:
        """The webhook. Raises ConfigError if there is none."""
        endpoint = endpoint_at(url_of(self._config), ca_pem=_bundle(self._config))
        service = self._config.get("service")
        host, port = (endpoint.host, endpoint.port) if service is None else await self._behind(service)
        found = replace(
            endpoint,
            host=await _address(host, port),
            port=port,
            tls_server_name=endpoint.host,
            authority=_authority(endpoint.host, endpoint.port),
        )
        return await self._webhook(found)

    async def close(self) -> None:
        for webhook in self._webhooks.values():
            await webhook.close()

    async def _webhook(self, endpoint: Endpoint) -> Webhook:
        where = (endpoint.host, endpoint.port)
        found = self._webhooks.get(where)
        if found is None:
            if len(self._webhooks) == PLACES_MAX:
                await self._webhooks.pop(next(iter(self._webhooks))).close()
            found = self._webhooks[where] = Webhook(self._seam, endpoint, answer_bytes_max=ANSWER_BYTES_MAX)
        return found

    async def _behind(self, reference: Json) -> tuple[str, int]:
        """The host and the port of somebody who answers for a Service."""
        namespace, name = reference["namespace"], reference["name"]
        service = await self._reader.get("", "services", namespace, name)
        if service is None:
            raise ConfigError(f"service {quote(name)} not found")
        spec = service["spec"]
        if spec.get("type", "ClusterIP") not in _ROUTED:
            raise ConfigError(f"unsupported service type {quote(spec['type'])}")
        wanted = reference.get("port") or PORT_DEFAULT
        port = next((each for each in spec.get("ports") or () if each["port"] == wanted), None)
        if port is None:
            raise ConfigError(f"no service port {wanted} found for service {quote(name)}")
        slices = [
            each
            for each in await self._reader.list("discovery.k8s.io", "endpointslices", namespace)
            if (each["metadata"].get("labels") or {}).get("kubernetes.io/service-name") == name
        ]
        if ready := list(_ready(slices, port.get("name", ""))):
            return random.choice(ready)  # noqa: S311 # spreads the work
        if slices or spec.get("clusterIP", "None") == "None":
            raise ConfigError(f"no endpoints available for service {quote(name)}")
        return spec["clusterIP"], wanted


def _ready(slices: list[Json], port_name: str) -> Iterator[tuple[str, int]]:
    for each in slices:
        for port in each.get("ports") or ():
            if port.get("name", "") != port_name or port.get("port") is None:
                continue
            for endpoint in each.get("endpoints") or ():
                if (endpoint.get("conditions") or {}).get("ready") is not False:
                    yield endpoint["addresses"][0], port["port"]


async def _address(host: str, port: int) -> str:
    """The address of a host, if webhooks may be there. Raises ConfigError."""
    address = _numeric(host, port) or await _looked_up(host, port)
    if _is_off_limits(address):
        raise ConfigError(f"{host} is at {address}, where no webhook may be")
    return address


def _numeric(host: str, port: int) -> str:
    """The address that a host is already, however it is spelled; "" for a name."""
    try:
        return str(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)[0][4][0])
    except (socket.gaierror, UnicodeError):
        return ""


async def _looked_up(host: str, port: int) -> str:
    look_up = partial(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM)
    try:
        async with asyncio.timeout(LOOKUP_SECONDS_MAX):
            found = await asyncio.get_running_loop().run_in_executor(_lookups(), look_up)
    except TimeoutError as cause:
        raise ConfigError(f"dial tcp: lookup {host}: i/o timeout") from cause
    except (socket.gaierror, UnicodeError) as cause:
        raise ConfigError(f"dial tcp: lookup {host}: {getattr(cause, 'strerror', cause)}") from cause
    return str(found[0][4][0])


@cache
def _lookups() -> ThreadPoolExecutor:
    """Threads of their own: who names a host that takes for ever must not take those that write the audit log."""
    return ThreadPoolExecutor(LOOKUPS_MAX, thread_name_prefix="lookup")


def _is_off_limits(address: str) -> bool:
    """Whether an address is nobody's, everybody's, or one that is only meant for who is on the same link."""
    ip = ip_address(address.partition("%")[0])
    return any(each.is_link_local or each.is_multicast or each.is_unspecified for each in _meant(ip)) or ip == _METADATA


def _meant(ip: IPv4Address | IPv6Address) -> Iterator[IPv4Address | IPv6Address]:
    """An address, and the one of IPv4 that it stands for: mapped, compatible, by 6to4, or behind a NAT64."""
    yield ip
    if isinstance(ip, IPv6Address):
        if inside := ip.ipv4_mapped or ip.sixtofour:
            yield inside
        if ip in _NAT64 or (ip in _COMPATIBLE and not ip.is_loopback):
            yield IPv4Address(int(ip) & 0xFFFFFFFF)


def _authority(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _bundle(config: Json) -> bytes | None:
    """Whom to trust, as PEM; None trusts what the machine trusts."""
    if not config.get("caBundle"):
        return None
    try:
        return b64decode(config["caBundle"])
    except binascii.Error as wrong:
        raise ConfigError(f"caBundle is not base64: {wrong}") from wrong
