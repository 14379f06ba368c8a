"""Names of fields and identifiers of expressions, both ways."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardpoint.machinery import cel
from hardpoint.machinery.cel.parser import parse
from hardpoint.machinery.cel.syntax import Select

# Recorded from kube-apiserver's own functions.
PAIRS = [
    ("a", "a"),
    ("__a", "__underscores__a"),
    ("a_b", "a_b"),
    ("a__b", "a__underscores__b"),
    ("a___b", "a__underscores___b"),
    ("a____b", "a__underscores____underscores__b"),
    ("a.b-c/d", "a__dot__b__dash__c__slash__d"),
    (".", "__dot__"),
    ("-x", "__dash__x"),
    ("in", "__in__"),
    ("namespace", "__namespace__"),
    ("while", "__while__"),
    ("inner", "inner"),
    ("__dot__", "__underscores__dot__underscores__"),
    ("example.com/in", "example__dot__com__slash__in"),
]


@pytest.mark.parametrize(("name", "identifier"), PAIRS)
def test_both_ways(name: str, identifier: str) -> None:
    assert cel.escape(name) == identifier
    assert cel.unescape(identifier) == name


@pytest.mark.parametrize("name", ["", "1a", "a b", "a$", "ä", "a:b", "a\n"])
def test_names_without_an_identifier(name: str) -> None:
    assert cel.escape(name) is None


@pytest.mark.parametrize("identifier", ["__x__", "a__in__", "__dotty__", "a__b__c"])
def test_identifiers_without_a_name(identifier: str) -> None:
    assert cel.unescape(identifier) is None


@given(st.text("ab_./-", min_size=1, max_size=12) | st.sampled_from(sorted(cel.RESERVED)))
def test_every_name_can_be_selected(name: str) -> None:
    identifier = cel.escape(name)
    assert identifier is not None
    chosen = parse(f"self.{identifier}")
    assert isinstance(chosen, Select)
    assert chosen.field == identifier
