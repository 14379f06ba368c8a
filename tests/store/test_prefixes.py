"""The keys under a prefix are those from the prefix to its end, and no others."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardpoint.store.prefixes import end_of

letters = st.sampled_from(["\0", "/", "a", "b", "é", "\ud7ff", "\ue000", "\U0010fffe", "\U0010ffff"])
texts = st.text(letters, max_size=4)


@given(texts, texts)
def test_the_span_is_the_prefix(prefix: str, key: str) -> None:
    end = end_of(prefix)
    assert (key >= prefix and (end is None or key < end)) is key.startswith(prefix)


@given(texts)
def test_the_end_can_be_stored(prefix: str) -> None:
    end = end_of(prefix)
    assert end is None or end.encode().decode() == end


@pytest.mark.parametrize(("prefix", "end"), [("/a/", "/a0"), ("", None), ("\U0010ffff", None), ("a\U0010ffff", "b")])
def test_examples(prefix: str, end: str | None) -> None:
    assert end_of(prefix) == end
