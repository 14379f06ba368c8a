"""What is remembered of strangers' texts: a few, and none that are long."""

from __future__ import annotations

from hardpoint.machinery.remembering import remembered


def test_short_texts_are_remembered_and_long_ones_are_not() -> None:
    made: list[str] = []

    @remembered(count=2, length_max=3)
    def measure(text: str, *, twice: bool = False) -> int:
        made.append(text)
        return len(text) * (2 if twice else 1)

    assert [measure("abc"), measure("abc"), measure("abc", twice=True)] == [3, 3, 6]
    assert made == ["abc", "abc"]
    assert [measure("abcd"), measure("abcd")] == [4, 4]
    assert made == ["abc", "abc", "abcd", "abcd"]


def test_only_the_newest_are_kept() -> None:
    made: list[str] = []

    @remembered(count=2)
    def measure(text: str) -> int:
        made.append(text)
        return len(text)

    for text in ("a", "b", "c", "c", "a"):
        measure(text)
    assert made == ["a", "b", "c", "a"]
