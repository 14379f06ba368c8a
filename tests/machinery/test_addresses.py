from __future__ import annotations

from ipaddress import ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardpoint.machinery import addresses


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        ("10.9.8.7", [], []),
        ("2001:db8::ffff", [], []),
        ("2001:DB8:0::1", [], ['must be in canonical form ("2001:db8::1")']),
        ("010.9.8.7", ["must not have leading 0s"], ["must not have leading 0s"]),
        (
            "::ffff:1.2.3.4",
            ["must not be an IPv4-mapped IPv6 address"],
            ["must not be an IPv4-mapped IPv6 address"],
        ),
        ("10.9.8", [addresses.NO_IP], [addresses.NO_IP]),
        ("10.9.8.256", [addresses.NO_IP], [addresses.NO_IP]),
        ("fe80::1%eth0", [addresses.NO_IP], [addresses.NO_IP]),
        ("", [addresses.NO_IP], [addresses.NO_IP]),
        ("1" * 1_000_000, [addresses.NO_IP], [addresses.NO_IP]),
    ],
)
def test_ip(text: str, old: list[str], new: list[str]) -> None:
    assert addresses.legacy_ip(text) == old
    assert addresses.ip(text) == new


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        ("10.0.0.0/8", [], []),
        ("2001:db8::/64", [], []),
        ("2001:DB8::/64", [], ['must be in canonical form ("2001:db8::/64")']),
        *[(text, [addresses.NO_CIDR], [addresses.NO_CIDR]) for text in ("10.0.0.0", "10.0.0.0/33", "x/8", "::/-1")],
        *[(text, ["must not have leading 0s in IP or prefix length"], None) for text in ("10.0.0.0/08", "010.0.0.0/8")],
        ("::ffff:1.2.3.0/120", ["must not have an IPv4-mapped IPv6 address"], None),
        ("10.0.0.1/8", ["must not have bits set beyond the prefix length"], None),
    ],
)
def test_cidr(text: str, old: list[str], new: list[str] | None) -> None:
    assert addresses.legacy_cidr(text) == old
    assert addresses.cidr(text) == (old if new is None else new)


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("10.9.8.7/24", []),
        ("10.9.8.7", [addresses.NO_INTERFACE_ADDRESS]),
        ("::ffff:10.9.8.7/120", ['must be in canonical form ("10.9.8.7/24")']),
    ],
)
def test_interface_address(text: str, problems: list[str]) -> None:
    assert addresses.interface_address(text) == problems


@pytest.mark.parametrize(
    ("text", "warnings"),
    [
        ("10.0.0.1", []),
        ("not an address", []),
        ("010.0.0.1", ['f: non-standard IP address "010.0.0.1" is invalid: use "10.0.0.1"']),
        ("2001:DB8::1", ['f: IPv6 address "2001:DB8::1" should be in RFC 5952 canonical format ("2001:db8::1")']),
    ],
)
def test_ip_warnings(text: str, warnings: list[str]) -> None:
    assert addresses.ip_warnings("f", text) == warnings


@pytest.mark.parametrize(
    ("text", "warnings"),
    [
        ("10.0.0.0/8", []),
        ("10.0.0.0", []),
        (
            "10.0.0.1/8",
            ['f: CIDR value "10.0.0.1/8" is ambiguous in this context (should be "10.0.0.0/8" or "10.0.0.1/32"?)'],
        ),
        ("10.0.0.0/08", ['f: non-standard CIDR value "10.0.0.0/08" is invalid: use "10.0.0.0/8"']),
        (
            "2001:DB8::/64",
            ['f: IPv6 CIDR value "2001:DB8::/64" should be in RFC 5952 canonical format ("2001:db8::/64")'],
        ),
        ("::ffff:1.2.3.0/120", ['f: non-standard CIDR value "::ffff:1.2.3.0/120" is invalid: use "1.2.3.0/24"']),
    ],
)
def test_cidr_warnings(text: str, warnings: list[str]) -> None:
    assert addresses.cidr_warnings("f", text) == warnings


@given(st.ip_addresses())
def test_every_canonical_address_is_fine(address: object) -> None:
    text = str(address)
    mapped = getattr(ip_address(text), "ipv4_mapped", None)
    assert bool(addresses.ip(text)) == bool(mapped)
    assert addresses.is_ipv6(text) == (":" in text and not mapped)
