"""What the rules of a schema say of an object and of every part of it that is there.

A rule is asked about each value of its schema, unless that is null; one about a change only if it can be told what the
value was. What a rule refuses that did not change is tolerated, and told as a warning. All rules share a budget for
one object. Follows apiextensions' schema/cel; its words are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from hardpoint.machinery import cel, patience
from hardpoint.machinery.cel.values import NONE, Optional
from hardpoint.machinery.errors import Costly
from hardpoint.machinery.fielderrors import FieldError, at, forbidden, invalid, required, show, under
from hardpoint.machinery.structural.before import Before, keyed, was
from hardpoint.machinery.structural.passing import DOUBTFUL, passes
from hardpoint.machinery.structural.ruled import Ruled, ruled
from hardpoint.machinery.structural.rules import Rule
from hardpoint.machinery.structural.values import NOWHERE

Json = dict[str, Any]

BUDGET = 10_000_000
"""What all rules together may cost for one object."""
QUICK = 100_000
"""What they may cost while others wait: some ten milliseconds."""
MESSAGE_BYTES_MAX = 5120
_OUT_OF_BUDGET = "running out of cost budget, no further validation rules will be run"


Judge = Callable[[Json, Json | None, bool], list[FieldError]]
"""Finds what rules have against an object, given what it was, and whether there is time. Raises Costly if not."""


def judge_of(schema: Json) -> Judge | None:
    """The judge of objects with this schema; None if it has no rules that can see anything."""
    node = ruled(schema, is_resource=True)
    if node is None:
        return None

    def judge(obj: Json, old: Json | None, is_patient: bool) -> list[FieldError]:
        if not is_patient and passes(node, obj, old, QUICK) != DOUBTFUL:
            return []
        before = None if old is None else Before(obj, old, schema)
        return judged(node, obj, old, before=before, is_patient=is_patient).found

    return judge


class Judged(NamedTuple):
    found: list[FieldError]
    left: int
    """What is left of the budget; negative if it did not suffice."""


def judged(
    node: Ruled,
    value: Any,
    old: Any,
    *,
    path: str = "",
    before: Before | None = None,
    budget: int = BUDGET,
    is_patient: bool = True,
) -> Judged:
    """Everything that rules have against a value at `path`, which was `old`. Without `before` nothing is tolerated.

    Raises Costly for what is not quick, unless `is_patient`.
    """
    judge = _Judge(budget, budget if is_patient else QUICK)
    try:
        judge.visit(node, path, value, old, _Held(before, None))
    except _Spent:
        return Judged(judge.found, -1)
    return Judged(judge.found, judge.left)


class _Held(NamedTuple):
    """What a value was, and what the nearest value above it was of which that can be told."""

    before: Before | None
    above: Before | None

    def field(self, name: str) -> _Held:
        if self.before is None:
            return self
        if self.above is None and name in ("apiVersion", "kind"):
            return _Held(None, None)
        return _Held(self.before.field(name), self.before)

    def item(self, index: int) -> _Held:
        return self if self.before is None else _Held(self.before.item(index), self.before)

    def is_unchanged(self) -> bool:
        known = self.before or self.above
        return known is not None and known.is_unchanged()


class _Spent(Exception):
    """No further rule is asked; why is among what was found."""


class _Judge:
    """One object on its way through the rules."""

    def __init__(self, budget: int, patience: int) -> None:
        self.left = budget
        self.found: list[FieldError] = []
        self._costly_below = budget - patience
        self._call_max = min(patience, cel.PER_CALL_MAX)

    def visit(self, node: Ruled, path: str, value: Any, old: Any, held: _Held) -> None:
        if value is None:
            return
        if node.rules:
            self._ask(node, _Place(node, path, value, held), old)
        if isinstance(value, dict):
            self._visit_object(node, path, value, old if isinstance(old, dict) else {}, held)
        elif isinstance(value, list) and node.items is not None:
            before = keyed(node.schema, old) if isinstance(old, list) else {}
            for index, item in enumerate(value):
                known = was(item, before, node.schema)
                self.visit(node.items, at(path, index), item, known, held.item(index))

    def _visit_object(self, node: Ruled, path: str, value: Json, old: Json, held: _Held) -> None:
        if node.values is not None:
            for name, item in value.items():
                self.visit(node.values, at(path, key=name), item, old.get(name), held.field(name))
        for name, field in node.fields.items():
            if name in value:
                self.visit(field, under(path, name), value[name], old.get(name), held.field(name))

    def _ask(self, node: Ruled, place: _Place, old: Any) -> None:
        if self.left <= 0:
            self._stop(place, f"validation failed due to {_OUT_OF_BUDGET}")
        values = {"self": node.view(place.value)}
        if node.looks_back and old is not None:
            values["oldSelf"] = node.view(old)
        for rule in node.rules:
            program = rule.program
            if program is None:
                if rule.problem:
                    self.found.append(place.failure(f"rule compile error: {rule.problem}"))
                continue
            if rule.uses_old and old is None and not rule.is_optional:
                continue
            try:
                given = _perhaps(values) if rule.is_optional else values
                verdict, cost = program.evaluate_counted(given, cost_max=self._call_max, interrupt=patience.interrupt)
            except cel.EvaluationError as failure:
                self._fail(rule, place, failure)
                continue
            self._pay(place, cost)
            if verdict is not True:
                self._refuse(rule, place, values)

    def _pay(self, place: _Place, cost: int) -> None:
        if cost > self.left:
            self._stop(place, f"validation failed due to {_OUT_OF_BUDGET}")
        self.left -= cost
        if self.left < self._costly_below:
            raise Costly

    def _stop(self, place: _Place, told: str) -> None:
        self.found.append(place.failure(told))
        raise _Spent

    def _fail(self, rule: Rule, place: _Place, failure: cel.EvaluationError) -> None:
        self._pay(place, failure.cost)
        if isinstance(failure, cel.CostExceeded):
            why = "no further validation rules will be run due to call cost exceeds limit for rule"
            self._stop(place, f"'{failure}': {why}: {rule.text}")
        told = f"{failure} evaluating rule: {rule.text}"
        if str(failure).startswith("no such overload"):
            why = "call arguments did not match a supported operator, function or macro signature for rule"
            told = f"'{failure}': {why}: {rule.text}"
        self.found.append(place.failure(told))

    def _refuse(self, rule: Rule, place: _Place, values: Mapping[str, Any]) -> None:
        tolerates = not rule.uses_old and place.held.is_unchanged()
        try:
            detail = self._message(rule, values) or rule.failure
        except _OverBudget as over:
            self.found.append(place.failure(str(over), rule.field).tolerated(tolerates))
            raise _Spent from None
        self.found.append(place.refusal(rule, detail).tolerated(tolerates))

    def _message(self, rule: Rule, values: Mapping[str, Any]) -> str:
        """What the rule's expression makes of these values, "" if it makes no message. Raises _OverBudget."""
        if rule.message is None:
            return ""
        try:
            message, cost = rule.message.evaluate_counted(values, cost_max=self._call_max, interrupt=patience.interrupt)
        except cel.EvaluationError as failure:
            message, cost = "", failure.cost
            if self.left - cost < self._costly_below:
                raise Costly from None
            if isinstance(failure, cel.CostExceeded) and cost <= self.left:
                why = "no further validation rules will be run due to call cost exceeds limit for messageExpression"
                raise _OverBudget(f"{why}: {show(rule.said['messageExpression'])}") from None
        if cost > self.left:
            raise _OverBudget(f"messageExpression evaluation failed due to {_OUT_OF_BUDGET}")
        self.left -= cost
        text = str(message).strip()
        return text if len(text.encode()) <= MESSAGE_BYTES_MAX and "\n" not in text else ""


class _OverBudget(Exception):
    """A message that costs too much."""


def _perhaps(values: Mapping[str, Any]) -> dict[str, Any]:
    """The same values for a rule to which what was before is an optional."""
    return {**values, "oldSelf": Optional(values["oldSelf"]) if "oldSelf" in values else NONE}


class _Place(NamedTuple):
    """A value that rules are asked about."""

    node: Ruled
    path: str
    value: Any
    held: _Held

    @property
    def kind(self) -> str:
        return str(self.node.schema.get("type", ""))

    def failure(self, told: str, field: str = "") -> FieldError:
        """That a rule had no answer."""
        return invalid(self._spelled(field), self.kind, told)

    def refusal(self, rule: Rule, detail: str) -> FieldError:
        """That a rule said no."""
        path = self._spelled(rule.field)
        shown = "" if self.kind in ("object", "array") else show(self.value)
        match rule.said.get("reason"):
            case "FieldValueForbidden":
                return forbidden(path, detail)
            case "FieldValueRequired":
                return required(path, detail)
            case "FieldValueDuplicate":
                return FieldError("FieldValueDuplicate", path, shown, "")
        return FieldError("FieldValueInvalid", path, shown, detail)

    def _spelled(self, field: str) -> str:
        return (under(self.path, field) if field else self.path) or NOWHERE
