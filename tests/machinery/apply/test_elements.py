"""Path elements: one text for each, in one order."""

from __future__ import annotations

import pytest

from hardpoint.machinery.apply import elements


@pytest.mark.parametrize(
    ("said", "canonical", "shown"),
    [
        ("f:spec", "f:spec", ".spec"),
        ("f:", "f:", "."),
        ("f:app.kubernetes.io/name", "f:app.kubernetes.io/name", ".app.kubernetes.io/name"),
        ('k:{"name":"x"}', 'k:{"name":"x"}', '[name="x"]'),
        ('k:{"protocol":"TCP", "port": 80}', 'k:{"port":80,"protocol":"TCP"}', '[port=80,protocol="TCP"]'),
        ('v:"a"', 'v:"a"', '[="a"]'),
        ("v:1", "v:1", "[=1]"),
        ('v:"<&"', 'v:"\\u003c\\u0026"', '[="<&"]'),
        ("i:03", "i:3", "[3]"),
    ],
)
def test_an_element_has_one_text(said: str, canonical: str, shown: str) -> None:
    assert elements.canonical(said) == canonical
    assert elements.shown(canonical) == shown


def test_a_kind_of_the_future_is_left_out() -> None:
    assert elements.canonical("x:whatever") is None


@pytest.mark.parametrize("said", ["", "f", "spec", "k:[1]", "k:{", "v:", "i:x", 'v:"a" "b"'])
def test_what_is_no_element_is_refused(said: str) -> None:
    with pytest.raises(elements.BadElement):
        elements.canonical(said)


@pytest.mark.parametrize(
    "ordered",
    [
        [".", "f:a", "f:b", 'k:{"name":"a"}', 'v:"a"', "i:0"],
        ['k:{"port":9}', 'k:{"port":80}', 'k:{"port":443}'],
        ['k:{"kind":"a","name":"b"}', 'k:{"kind":"b","name":"a"}', 'k:{"name":"a"}'],
        ["v:1", "v:2.5", "v:10", 'v:"1"', "v:false", "v:true"],
        ["i:2", "i:10"],
        ["f:Z", "f:a", "f:é", "f:😀"],
    ],
)
def test_elements_have_one_order(ordered: list[str]) -> None:
    backwards = ordered[::-1]
    backwards.sort(key=elements.order)
    assert backwards == ordered
