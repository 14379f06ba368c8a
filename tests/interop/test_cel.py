"""Our CEL beside cel-go with the libraries of kube-apiserver: the corpus, and expressions nobody wrote."""

from __future__ import annotations

import pytest

from tests.interop.record_cel import Json, answers
from tests.machinery.cel.corpus import VARIABLES, cases
from tests.machinery.cel.generating import expressions
from tests.machinery.cel.telling import told

pytestmark = pytest.mark.interop

COUNT = 5000


def test_the_corpus_says_what_cel_go_says() -> None:
    known = cases()
    said = answers((case.expression, case.variables) for case in known)
    assert [case.answer for case in known] == said


def test_expressions_nobody_wrote() -> None:
    """Values and failures are the same, and nearly all costs; of what is refused, that it is."""
    given = VARIABLES["object"]
    made = expressions(COUNT, seed=37)
    said = answers((expression, given) for expression in made)
    found = [told(expression, given.types, given.values) for expression in made]
    compared = [each for each in zip(made, found, said, strict=True) if not _is_failure_of_theirs(each[2])]
    assert [each for each in compared if _essence(each[1]) != _essence(each[2])] == []
    assert sum("value" in answer for answer in said) > COUNT // 2
    # Of a part that fails, while another part decides, cel-go and we evaluate different amounts.
    dearer = [each for each in compared if each[1].get("cost") != each[2].get("cost")]
    assert len(dearer) <= COUNT * 0.005, dearer


def _is_failure_of_theirs(answer: Json) -> bool:
    """Some list functions of cel-go stumble over an argument that failed."""
    return "internal error" in answer.get("failure", "")


def _essence(answer: Json) -> Json:
    if "refusal" in answer:
        return {"refusal": True}
    return {name: value for name, value in answer.items() if name != "cost"}
