"""IP addresses and CIDRs: which texts are accepted, and what is said about the others.

Old fields take whatever Go once parsed, less what it misread (`legacy_*`); new fields take only the canonical form.
Both return messages, empty when nothing is wrong; the warnings for old fields need the field's path.
"""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_network
from typing import Literal

from hardpoint.machinery.fielderrors import quote

NO_IP = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
NO_CIDR = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"
NO_INTERFACE_ADDRESS = "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)"

_LONGEST = len("0000:0000:0000:0000:0000:0000:000.000.000.000/0128") + 16


@dataclass(frozen=True, slots=True)
class Address:
    """What a text was read as. `mapped` tells an IPv4 address in IPv6 clothes, which Go takes for IPv4."""

    value: IPv4Address | IPv6Address
    mapped: bool
    leading_zeros: bool

    @property
    def version(self) -> Literal[4, 6]:
        return 4 if isinstance(self.value, IPv4Address) else 6

    def __str__(self) -> str:
        return str(self.value)


@dataclass(frozen=True, slots=True)
class Cidr:
    """An address and how many of its leading bits are the network's."""

    address: Address
    length: int
    leading_zeros: bool

    @property
    def written_bits(self) -> int:
        """How wide the address was written: a mapped IPv4 address has 128 bits."""
        return 128 if self.address.version == 6 or self.address.mapped else 32

    @property
    def network(self) -> str:
        """The canonical form, with the bits past the prefix cleared."""
        address, length = self.address, self.length
        if not address.mapped:
            return str(ip_network((address.value, length), strict=False))
        if length < 96:
            return str(ip_network((f"::ffff:{address}", length), strict=False))
        return str(ip_network((address.value, length - 96), strict=False))

    @property
    def has_host_bits(self) -> bool:
        return self.network.partition("/")[0] != str(self.address)


def parse_ip(text: str) -> Address | None:
    """The address, or None. Leading zeros in IPv4 are read as decimal, as Go did before 1.17."""
    if "%" in text or len(text) > _LONGEST:
        return None
    try:
        if ":" not in text:
            plain = ".".join(_without_zeros(part) for part in text.split("."))
            return Address(IPv4Address(plain), False, plain != text)
        head, colon, tail = text.rpartition(":")
        plain = ".".join(_without_zeros(part) for part in tail.split(".")) if "." in tail else tail
        parsed = IPv6Address(head + colon + plain)
    except ValueError:
        return None
    mapped = parsed.ipv4_mapped
    return Address(mapped or parsed, mapped is not None, plain != tail)


def _without_zeros(digits: str) -> str:
    return digits.lstrip("0") or "0" if digits else digits


def parse_cidr(text: str) -> Cidr | None:
    head, slash, tail = text.partition("/")
    address = parse_ip(head)
    if address is None or not slash or not (tail.isascii() and tail.isdigit()) or len(tail) > 16:
        return None
    cidr = Cidr(address, int(tail), address.leading_zeros or (len(tail) > 1 and tail[0] == "0"))
    return cidr if cidr.length <= cidr.written_bits else None


def is_ipv6(text: str) -> bool:
    """Whether the text is an IPv6 address, as services and slices tell their families apart."""
    address = parse_ip(text)
    return address is not None and address.version == 6


def legacy_ip(text: str) -> list[str]:
    """The rule for fields older than strict validation: any clear spelling of an address."""
    address = parse_ip(text)
    if address is None:
        return [NO_IP]
    found = []
    if address.leading_zeros:
        found.append("must not have leading 0s")
    elif address.mapped:
        found.append("must not be an IPv4-mapped IPv6 address")
    return found


def ip(text: str) -> list[str]:
    """The rule for new fields: the canonical spelling only."""
    if found := legacy_ip(text):
        return found
    canonical = str(parse_ip(text))
    return [] if canonical == text else [f"must be in canonical form ({quote(canonical)})"]


def legacy_cidr(text: str) -> list[str]:
    cidr = parse_cidr(text)
    if cidr is None:
        return [NO_CIDR]
    if cidr.leading_zeros:
        return ["must not have leading 0s in IP or prefix length"]
    if cidr.address.mapped:
        return ["must not have an IPv4-mapped IPv6 address"]
    return ["must not have bits set beyond the prefix length"] if cidr.has_host_bits else []


def cidr(text: str) -> list[str]:
    if found := legacy_cidr(text):
        return found
    parsed = parse_cidr(text)
    assert parsed is not None
    return [] if parsed.network == text else [f"must be in canonical form ({quote(parsed.network)})"]


def interface_address(text: str) -> list[str]:
    """An address with the size of its network, `10.9.8.7/24`."""
    parsed = parse_cidr(text)
    if parsed is None:
        return [NO_INTERFACE_ADDRESS]
    length = parsed.length - 96 if parsed.address.mapped and parsed.length > 32 else parsed.length
    canonical = f"{parsed.address}/{length}"
    return [] if canonical == text else [f"must be in canonical form ({quote(canonical)})"]


def ip_warnings(field: str, text: str) -> list[str]:
    """What to say about an accepted address in an old field that a new field would refuse."""
    address = parse_ip(text)
    if address is None:
        return []
    if address.leading_zeros or address.mapped:
        return [f"{field}: non-standard IP address {quote(text)} is invalid: use {quote(str(address))}"]
    if address.version == 6 and str(address) != text:
        return [f"{field}: IPv6 address {quote(text)} should be in RFC 5952 canonical format ({quote(str(address))})"]
    return []


def cidr_warnings(field: str, text: str) -> list[str]:
    parsed = parse_cidr(text)
    if parsed is None:
        return []
    found = []
    if parsed.has_host_bits:
        single = f"{parsed.address}/{parsed.written_bits}"
        choices = f"{quote(parsed.network)} or {quote(single)}"
        found.append(f"{field}: CIDR value {quote(text)} is ambiguous in this context (should be {choices}?)")
    if parsed.leading_zeros or parsed.address.mapped:
        found.append(f"{field}: non-standard CIDR value {quote(text)} is invalid: use {quote(parsed.network)}")
    if not found and parsed.address.version == 6 and parsed.network != text:
        found.append(
            f"{field}: IPv6 CIDR value {quote(text)} should be in RFC 5952 canonical format ({quote(parsed.network)})"
        )
    return found
