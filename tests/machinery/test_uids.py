"""UUIDs as text: what they say is what Python's own say."""

from __future__ import annotations

from uuid import RFC_4122, UUID

from hypothesis import given
from hypothesis import strategies as st

from hardpoint.machinery.uids import BITS, uid


@given(st.integers(0, 2**BITS - 1))
def test_a_uid_is_a_random_uuid_with_all_bits_that_are_free(bits: int) -> None:
    made = UUID(uid(bits))
    assert (made.version, made.variant, str(made)) == (4, RFC_4122, uid(bits))
    free = ~((0xF << 76) | (0x3 << 62))
    different = (made.int ^ bits) & free
    assert different & ~(0x3 << 60) == 0, "only the place of the variant is taken from other bits"
