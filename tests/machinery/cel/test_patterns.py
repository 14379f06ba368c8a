"""Patterns: the quick way to a yes finds what the pattern itself finds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardpoint.machinery import cel
from hardpoint.machinery.cel.library.regex import compiled, matcher

PATTERNS = ["^[a-z]+$", "a|bc", "(a)(b)?", "", "b*", "(?i)A+B", r"\d{2,3}", "^$", "é.", "a{1000}", "(?s)a.b"]


@pytest.mark.parametrize("pattern", PATTERNS)
@given(text=st.text("abBé1\n", max_size=12) | st.just("a" * 2000))
def test_both_ways_agree(pattern: str, text: str) -> None:
    assert matcher(pattern)(text) is (compiled(pattern).search(text) is not None)


def test_a_pattern_may_be_a_value() -> None:
    program = cel.compile("['a1', 'b2'].all(t, t.matches(p))", {"p": cel.STRING})
    assert program.evaluate({"p": "[0-9]$"}) is True
    assert program.evaluate({"p": "^a"}) is False
    with pytest.raises(cel.EvaluationError, match="missing closing"):
        program.evaluate({"p": "("})
