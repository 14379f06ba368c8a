"""What expressions hand to whoever decides; what they say to the answers is in the corpus."""

from __future__ import annotations

import pytest

from hardpoint.machinery import cel

TYPES = {"authorizer": cel.AUTHORIZER, "authorizer.requestResource": cel.RESOURCE_CHECK}


def asked_by(expression: str) -> list[cel.Check]:
    """The checks that an expression makes."""
    asked: list[cel.Check] = []

    def decide(check: cel.Check) -> cel.Decision:
        asked.append(check)
        return cel.Decision(allowed=True)

    request = cel.Check(group="apps", resource="deployments", namespace="shop", name="web")
    values = {"authorizer": cel.Authorizer(decide), "authorizer.requestResource": cel.ResourceCheck(decide, request)}
    cel.compile(expression, TYPES).evaluate(values)
    return asked


@pytest.mark.parametrize(
    ("expression", "check"),
    [
        ("authorizer.path('/healthz').check('get')", cel.Check(verb="get", path="/healthz")),
        (
            "authorizer.group('').resource('pods').subresource('log').namespace('a').name('b').check('get')",
            cel.Check(verb="get", resource="pods", subresource="log", namespace="a", name="b"),
        ),
        (
            "authorizer.group('').resource('pods').fieldSelector('a=b').labelSelector('c').check('list')",
            cel.Check(verb="list", resource="pods", field_selector="a=b", label_selector="c"),
        ),
        (
            "authorizer.serviceAccount('ops', 'robot').path('/x').check('get')",
            cel.Check(verb="get", user="system:serviceaccount:ops:robot", path="/x"),
        ),
        (
            "authorizer.requestResource.name('other').check('delete')",
            cel.Check(verb="delete", group="apps", resource="deployments", namespace="shop", name="other"),
        ),
    ],
)
def test_the_check_says_all(expression: str, check: cel.Check) -> None:
    assert asked_by(expression) == [check]


def test_what_is_not_asked_is_not_decided() -> None:
    assert asked_by("authorizer.group('apps').resource('pods')") == []
    assert len(asked_by("['a', 'b'].all(v, authorizer.path('/x').check(v).allowed())")) == 2


class MustWait(Exception):
    """Nobody can say before a webhook was asked."""


def test_whoever_must_wait_may_raise() -> None:
    """No operator hides it, and evaluating again with the answer is all it takes."""
    answers: dict[cel.Check, cel.Decision] = {}

    def decide(check: cel.Check) -> cel.Decision:
        if check not in answers:
            raise MustWait(check)
        return answers[check]

    program = cel.compile("authorizer.path('/x').check('get').allowed() || true", {"authorizer": cel.AUTHORIZER})
    with pytest.raises(MustWait) as needed:
        program.evaluate({"authorizer": cel.Authorizer(decide)})
    answers[needed.value.args[0]] = cel.Decision(allowed=False, reason="no rule")
    assert program.evaluate({"authorizer": cel.Authorizer(decide)}) is True


def test_rules_without_the_variable_cannot_ask() -> None:
    with pytest.raises(cel.CompileError, match="undeclared reference to 'authorizer'"):
        cel.compile("authorizer.path('/x').check('get').allowed()", {"self": cel.DYN})
