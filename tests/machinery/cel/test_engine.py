"""What holds for every expression: nothing but our errors, the same answer in every thread, Python's arithmetic."""

from __future__ import annotations

import math
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardpoint.apiserver.authorization.matching import compiled
from hardpoint.machinery import cel
from hardpoint.machinery.cel.values import INT_MAX, INT_MIN, equal
from tests.machinery.cel.corpus import VARIABLES
from tests.machinery.cel.declared import Declared
from tests.machinery.cel.generating import expressions

PERSON = cel.object_of("Person", {"name": cel.STRING, "tags": cel.list_of(cel.STRING)})
INTS = {"a": cel.INT, "b": cel.INT}
ints = st.integers(INT_MIN, INT_MAX) | st.integers(-10, 10)
scalars = st.none() | st.booleans() | st.integers(-3, 3) | st.floats(allow_nan=False, width=16) | st.text(max_size=2)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=8,
)


def test_a_field_that_is_not_declared_is_a_mistake() -> None:
    with pytest.raises(cel.CompileError) as refused:
        cel.compile("person.nme == 'jane'", {"person": PERSON})
    assert str(refused.value) == ("ERROR: <input>:1:7: undefined field 'nme'\n | person.nme == 'jane'\n | ......^")


def test_the_examples_of_the_reference() -> None:
    text = (Path(__file__).parents[3] / "docs/reference/cel.md").read_text()
    (written,) = re.findall(r"^```cel\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    for expression in written.splitlines():
        assert compiled(expression).result == cel.BOOL
    (program,) = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    *lines, last = program.strip().splitlines()
    names: dict[str, Any] = {}
    exec("\n".join(lines), names)  # It is what the reference tells its readers to run.
    assert eval(last, names) is True  # As above.


def test_the_result_must_be_what_is_wanted() -> None:
    assert cel.compile("person.name", {"person": PERSON}, result=cel.STRING).result == cel.STRING
    with pytest.raises(cel.WrongResult, match="must evaluate to bool but got string") as refused:
        cel.compile("person.name", {"person": PERSON}, result=cel.BOOL)
    assert (refused.value.wanted, refused.value.found) == ("bool", "string")


def test_the_same_question_gets_the_same_program() -> None:
    first = cel.compile("a + b", INTS)
    assert cel.compile("a + b", dict(reversed(INTS.items()))) is first
    assert cel.compile("a + b", {"a": cel.STRING, "b": cel.STRING}) is not first


def test_types_of_one_name_and_other_fields_are_other_types() -> None:
    cel.compile("x.a", {"x": cel.object_of("X", {"a": cel.INT})})
    with pytest.raises(cel.CompileError):
        cel.compile("x.a", {"x": cel.object_of("X", {"b": cel.INT})})


def test_a_variable_without_a_value() -> None:
    program = cel.compile("a > 1", INTS)
    assert program.variables == {"a"}
    with pytest.raises(cel.EvaluationError, match=r"no such attribute\(s\): a"):
        program.evaluate({})


@pytest.mark.parametrize("value", [5, None, [1], {"a": 1}, b"x"])
def test_a_value_of_another_type_than_was_declared(value: Any) -> None:
    program = cel.compile("s.startsWith('x') && size(s) > 0", {"s": cel.STRING})
    with pytest.raises(cel.EvaluationError, match="no such overload"):
        program.evaluate({"s": value})


@pytest.mark.parametrize("key", [[1], {}, None, 1.5])
def test_what_can_be_a_key(key: Any) -> None:
    program = cel.compile("{k: 1}[k]", {"k": cel.DYN})
    if isinstance(key, float):
        assert program.evaluate({"k": key}) == 1
    else:
        with pytest.raises(cel.EvaluationError, match="unsupported key type"):
            program.evaluate({"k": key})


def test_many_threads_share_a_program() -> None:
    program = cel.compile("l.map(x, x * n).sum()", {"l": cel.list_of(cel.INT), "n": cel.INT})
    numbers = list(range(300))
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda n: program.evaluate({"l": numbers, "n": n}), range(200)))
    assert found == [sum(numbers) * n for n in range(200)]


@given(ints, ints)
def test_arithmetic_is_pythons_within_64_bits(a: int, b: int) -> None:
    for sign, exact in (("+", a + b), ("-", a - b), ("*", a * b)):
        program = cel.compile(f"a {sign} b", INTS)
        if INT_MIN <= exact <= INT_MAX:
            assert program.evaluate({"a": a, "b": b}) == exact
        else:
            with pytest.raises(cel.EvaluationError, match="integer overflow"):
                program.evaluate({"a": a, "b": b})


@given(ints, ints.filter(bool))
def test_division_truncates(a: int, b: int) -> None:
    if (a, b) == (INT_MIN, -1):
        return
    quotient = cel.compile("a / b", INTS).evaluate({"a": a, "b": b})
    rest = cel.compile("a % b", INTS).evaluate({"a": a, "b": b})
    assert quotient * b + rest == a
    assert abs(rest) < abs(b)
    assert rest == math.copysign(rest, a) or rest == 0


@given(values, values)
def test_equality_is_one_relation(left: Any, right: Any) -> None:
    """It is symmetric, tells bools from numbers, and `in` and `==` agree with it."""
    both = {"left": cel.DYN, "right": cel.DYN}
    found = cel.compile("left == right", both).evaluate({"left": left, "right": right})
    assert found is equal(right, left)
    assert cel.compile("left != right", both).evaluate({"left": left, "right": right}) is not found
    assert cel.compile("[left].exists(x, x == right)", both).evaluate({"left": left, "right": right}) is found
    assert (
        cel.compile("right in l", {**both, "l": cel.list_of(cel.DYN)}).evaluate({"right": right, "l": [left]}) is found
    )
    assert equal(left, left)
    if isinstance(left, bool) is not isinstance(right, bool):
        assert found is False


@given(st.text(alphabet="ab1.+-*/%<>=!&|?:,()[]{}'\" \n\\rx", max_size=30))
def test_no_text_breaks_the_parser(text: str) -> None:
    try:
        program = cel.compile(text, INTS)
        program.evaluate({"a": 1, "b": 2})
    except (cel.CompileError, cel.EvaluationError) as refused:
        assert str(refused)  # noqa: PT017  # Most are refused, some are expressions.


@given(values)
def test_values_of_any_shape_break_nothing(value: Any) -> None:
    """What is declared as dyn may be anything."""
    for expression in expressions(12, seed=len(repr(value))):
        try:
            program = cel.compile(expression.replace("o.", "o.x."), {"o": cel.map_of(cel.STRING, cel.DYN)})
            program.evaluate({"o": {"x": value}})
        except (cel.CompileError, cel.EvaluationError) as failed:
            assert str(failed)  # noqa: PT017  # Some have a value all the same.


def test_expressions_nobody_wrote_fail_as_promised() -> None:
    given_ = VARIABLES["object"]
    types = {name: Declared.read(text).type for name, text in given_.types.items()}
    evaluated = 0
    for expression in expressions(1500, seed=5):
        try:
            cel.compile(expression, types).evaluate(given_.values)
            evaluated += 1
        except (cel.CompileError, cel.EvaluationError):
            continue
    assert evaluated > 700


def test_nobody_pays_for_it_who_does_not_use_it() -> None:
    """Starting a cluster imports none of it."""
    code = "import sys, hardpoint.cluster; print([name for name in sys.modules if 'machinery.cel' in name])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
