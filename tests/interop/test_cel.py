"""Our CEL beside cel-go with the libraries of kube-apiserver: the corpus, and expressions nobody wrote."""

from __future__ import annotations

import pytest

from hardpoint.machinery import cel
from tests.interop.record_cel import Json, answers, estimated
from tests.machinery.cel import estimates
from tests.machinery.cel.corpus import VARIABLES, cases
from tests.machinery.cel.declared import Declared
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


def test_the_recorded_estimates_are_cel_gos() -> None:
    known = estimates.cases()
    assert [[case.cost_min, case.cost_max] for case in known] == estimated(
        (case.expression, case.schema) for case in known
    )


def test_estimates_of_expressions_nobody_wrote() -> None:
    schema = estimates.SCHEMAS["object"]
    declared = Declared.read(schema.type)
    made = expressions(COUNT, seed=38)
    differing, compared = [], 0
    for expression, said in zip(made, estimated((each, schema) for each in made), strict=True):
        if said is None:
            continue
        compared += 1
        try:
            program = cel.compile(expression, {"o": declared.type})
        except cel.CompileError:
            # cel-go estimates what fails as soon as it is made ready.
            continue
        if list(found := cel.estimate(program, declared.size)) != said:
            differing.append((expression, found, said))
    assert differing == []
    assert compared > COUNT // 2


def _is_failure_of_theirs(answer: Json) -> bool:
    """Some list functions of cel-go stumble over an argument that failed."""
    return "internal error" in answer.get("failure", "")


def _essence(answer: Json) -> Json:
    if "refusal" in answer:
        return {"refusal": True}
    return {name: value for name, value in answer.items() if name != "cost"}
