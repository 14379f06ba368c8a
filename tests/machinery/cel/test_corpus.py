"""What cel-go was recorded to say, we say: refusals with their texts, types, values, failures and costs."""

from __future__ import annotations

import pytest

from tests.machinery.cel.corpus import Case, cases
from tests.machinery.cel.telling import told

CASES = cases()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.expression[:60])
def test_the_same_answer(case: Case) -> None:
    ours = told(case.expression, case.variables.types, case.variables.complete())
    if case.differs:
        assert ours != case.answer, "it differs no more; take the remark away"
    else:
        assert ours == case.answer


def test_the_corpus_is_not_small() -> None:
    assert len(CASES) > 600
    assert sum("refusal" in case.answer for case in CASES) > 60
    assert sum("failure" in case.answer for case in CASES) > 60
    assert sum(bool(case.differs) for case in CASES) < 10
