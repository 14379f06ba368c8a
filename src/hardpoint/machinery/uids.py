"""What tells one object, or one request, from all others: random UUIDs, as text."""

from __future__ import annotations

BITS = 128


def uid(bits: int) -> str:
    """The version 4 UUID of so many random bits: `new_uid = uid(getrandbits(BITS))`."""
    digits = f"{bits:032x}"
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{_VARIANT[digits[16]]}{digits[17:20]}-{digits[20:]}"


_VARIANT = {digit: "89ab"[number % 4] for number, digit in enumerate("0123456789abcdef")}
