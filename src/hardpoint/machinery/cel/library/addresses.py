"""IP addresses and networks: `ip('10.0.0.1')`, `cidr('10.0.0.0/8').containsIP('10.1.2.3')`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any

from hardpoint.machinery.cel.costs import read, reads
from hardpoint.machinery.cel.errors import EvaluationError
from hardpoint.machinery.cel.functions import function, member
from hardpoint.machinery.cel.types import BOOL, INT, STRING, opaque
from hardpoint.machinery.cel.values import Opaque, size_of
from hardpoint.machinery.fielderrors import quote

IP = opaque("net.IP")
CIDR = opaque("net.CIDR")
_LENGTH_MAX = 64
"""No address or network is longer; why a longer text is none need not be found out."""
_BITS = re.compile("0|[1-9][0-9]{0,2}")


@dataclass(frozen=True, slots=True)
class Address(Opaque):
    type_name = IP.name

    address: IPv4Address | IPv6Address

    @property
    def size(self) -> int:  # type: ignore[override]  # A number for most types, told by the value here.
        return self.address.max_prefixlen // 8


@dataclass(frozen=True, slots=True)
class Network(Opaque):
    """An address and how many of its bits are the network's; the others need not be zero."""

    type_name = CIDR.name

    address: IPv4Address | IPv6Address
    bits: int

    @property
    def size(self) -> int:  # type: ignore[override]  # A number for most types, told by the value here.
        return -(-self.bits // 8)

    @property
    def whole(self) -> IPv4Network | IPv6Network:
        return ip_network((self.address, self.bits), strict=False)


def _read(text: str) -> IPv4Address | IPv6Address:
    """Raises ValueError, with what is wrong, for all that is no address."""
    try:
        return ip_address(text[: _LENGTH_MAX + 1])
    except ValueError:
        raise ValueError(f"ParseAddr({quote(text)}): {_why(text)}") from None


def _why(text: str) -> str:
    if ":" not in text and any(len(part) > 1 and part[0] == "0" for part in text.split(".")):
        return "IPv4 field has octet with leading zero"
    return "unable to parse IP"


def _parse_ip(text: str) -> Address:
    try:
        address = _read(text)
    except ValueError as wrong:
        message = f"IP Address {quote(text)} parse error during conversion from string: {wrong}"
        raise EvaluationError(message) from None
    if isinstance(address, IPv6Address):
        if address.scope_id is not None:
            raise EvaluationError(f"IP address {quote(text)} with zone value is not allowed")
        if address.ipv4_mapped is not None:
            raise EvaluationError(f"IPv4-mapped IPv6 address {quote(text)} is not allowed")
    return Address(address)


def _parse_cidr(text: str) -> Network:
    head = "network address parse error during conversion from string: "
    where, slash, bits = text.partition("/")
    if not slash:
        raise EvaluationError(f"{head}{head}netip.ParsePrefix({quote(text)}): no '/'")
    try:
        address = _read(where)
    except ValueError as wrong:
        raise EvaluationError(f"{head}{head}netip.ParsePrefix({quote(text)}): {wrong}") from None
    if not _BITS.fullmatch(bits) or int(bits) > address.max_prefixlen:
        raise EvaluationError(f"{head}{head}netip.ParsePrefix({quote(text)}): prefix length out of range")
    if isinstance(address, IPv6Address):
        if address.scope_id is not None:
            raise EvaluationError(
                f"{head}{head}netip.ParsePrefix({quote(text)}): IPv6 zones cannot be present in a prefix"
            )
        if address.ipv4_mapped is not None:
            raise EvaluationError(f"{head}IPv4-mapped IPv6 address {quote(text)} is not allowed")
    return Network(address, int(bits))


def _can_parse_ip(text: str) -> bool:
    if len(text) > _LENGTH_MAX:
        return False
    try:
        _parse_ip(text)
    except EvaluationError:
        return False
    return True


def _can_parse_cidr(text: str) -> bool:
    if len(text) > _LENGTH_MAX:
        return False
    try:
        _parse_cidr(text)
    except EvaluationError:
        return False
    return True


def _contains_ip(network: Network, other: Address) -> bool:
    return network.address.version == other.address.version and other.address in network.whole


def _contains_cidr(network: Network, other: Network) -> bool:
    return network.bits <= other.bits and _contains_ip(network, Address(other.address))


def _is_link_local_multicast(value: Address) -> bool:
    address = value.address
    if isinstance(address, IPv4Address):
        return address in IPv4Network("224.0.0.0/24")
    return address.packed[0] == 0xFF and address.packed[1] & 0x0F == 0x02


def _is_global_unicast(value: Address) -> bool:
    """Go's meaning: all but broadcast, unspecified, loopback, multicast and link-local."""
    address = value.address
    is_broadcast = isinstance(address, IPv4Address) and address == IPv4Address("255.255.255.255")
    special = address.is_unspecified or address.is_loopback or address.is_multicast or address.is_link_local
    return not (is_broadcast or special)


def _contains_ip_cost(arguments: Sequence[Any]) -> int:
    return read(2 * size_of(arguments[0])) + _parsing(arguments[1])


def _contains_cidr_cost(arguments: Sequence[Any]) -> int:
    return read(2 * size_of(arguments[0])) + read(size_of(arguments[0])) + 1 + _parsing(arguments[1])


def _parsing(other: Any) -> int:
    return read(len(other)) if type(other) is str else 0


OVERLOADS = (
    function("ip", (STRING,), IP, _parse_ip, cost=reads(0)),
    member("ip", (CIDR,), IP, lambda network: Address(network.address)),
    function("isIP", (STRING,), BOOL, _can_parse_ip, cost=reads(0)),
    function(
        "ip.isCanonical", (STRING,), BOOL, lambda text: str(_parse_ip(text).address) == text, cost=reads(0, times=2)
    ),
    function("string", (IP,), STRING, lambda value: str(value.address)),
    member("family", (IP,), INT, lambda value: value.address.version),
    member("isUnspecified", (IP,), BOOL, lambda value: value.address.is_unspecified),
    member("isLoopback", (IP,), BOOL, lambda value: value.address.is_loopback),
    member("isLinkLocalMulticast", (IP,), BOOL, _is_link_local_multicast),
    member("isLinkLocalUnicast", (IP,), BOOL, lambda value: value.address.is_link_local),
    member("isGlobalUnicast", (IP,), BOOL, _is_global_unicast),
    function("cidr", (STRING,), CIDR, _parse_cidr, cost=reads(0)),
    function("isCIDR", (STRING,), BOOL, _can_parse_cidr, cost=reads(0)),
    function("string", (CIDR,), STRING, lambda network: f"{network.address}/{network.bits}"),
    member(
        "containsIP", (CIDR, STRING), BOOL, lambda one, text: _contains_ip(one, _parse_ip(text)), cost=_contains_ip_cost
    ),
    member("containsIP", (CIDR, IP), BOOL, _contains_ip, cost=_contains_ip_cost),
    member(
        "containsCIDR",
        (CIDR, STRING),
        BOOL,
        lambda one, text: _contains_cidr(one, _parse_cidr(text)),
        cost=_contains_cidr_cost,
    ),
    member("containsCIDR", (CIDR, CIDR), BOOL, _contains_cidr, cost=_contains_cidr_cost),
    member("masked", (CIDR,), CIDR, lambda network: Network(network.whole.network_address, network.bits)),
    member("prefixLength", (CIDR,), INT, lambda network: network.bits),
)
