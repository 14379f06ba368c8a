"""What is remembered for a while."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hardpoint.machinery.expiring import Expiring


def test_each_has_its_own_end() -> None:
    kept: Expiring[str, int] = Expiring(10)
    kept.put("a", 1, until=5.0)
    kept.put("b", 2, until=7.0)
    assert (kept.get("a", 4.9), kept.get("b", 4.9)) == (1, 2)
    assert (kept.get("a", 5.0), kept.get("b", 5.0)) == (None, 2)
    assert len(kept) == 1


def test_the_newest_word_counts() -> None:
    kept: Expiring[str, int] = Expiring(10)
    kept.put("a", 1, until=5.0)
    kept.put("a", 2, until=9.0)
    assert kept.get("a", 6.0) == 2


@given(st.lists(st.integers(0, 20)), st.integers(1, 5))
def test_there_is_room_for_so_many_and_the_oldest_goes_first(keys: list[int], size_max: int) -> None:
    kept: Expiring[int, int] = Expiring(size_max)
    for key in keys:
        kept.put(key, key, until=1.0)
        assert len(kept) <= size_max
    newest = list(dict.fromkeys(reversed(keys)))[:size_max]
    assert {key for key in range(21) if kept.get(key, 0.0) is not None} == set(newest)
