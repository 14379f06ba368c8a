"""What the rules of a schema say of an object and of every part of it that is there.

A rule is asked about each value of its schema, unless that is null; one about a change only if it can be told what the
value was. What a rule refuses that did not change is tolerated, and told as a warning. All rules share a budget for
one object. Follows apiextensions' schema/cel; its words are kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, NamedTuple

from hardpoint.machinery import cel
from hardpoint.machinery.cel.values import NONE, Optional
from hardpoint.machinery.fielderrors import FieldError, at, forbidden, invalid, required, show, under
from hardpoint.machinery.structural.before import Before, keyed, was
from hardpoint.machinery.structural.declared import Declared, declare
from hardpoint.machinery.structural.keywords import EMBEDDED, RULES
from hardpoint.machinery.structural.rules import Rule, compile_rules
from hardpoint.machinery.structural.values import NOWHERE
from hardpoint.machinery.structural.viewed import View, viewer

Json = dict[str, Any]

BUDGET = 10_000_000
"""What all rules together may cost for one object."""
MESSAGE_BYTES_MAX = 5120
_Parts = tuple[Mapping[str, "Ruled"], "Ruled | None", "Ruled | None"]
_OUT_OF_BUDGET = "running out of cost budget, no further validation rules will be run"


class Ruled:
    """A schema with rules in it or below it, which are compiled when the first value of it comes by."""

    def __init__(self, schema: Json, declared: Declared, parts: _Parts, *, is_resource: bool) -> None:
        self.schema = schema
        self.fields, self.values, self.items = parts
        self._declared = declared
        self._is_resource = is_resource

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        """Its own rules."""
        return compile_rules(self.schema, self._declared)

    @cached_property
    def looks_back(self) -> bool:
        return any(rule.uses_old for rule in self.rules)

    @cached_property
    def view(self) -> View:
        """Gives a value as its rules see it."""
        return viewer(self.schema, is_resource=self._is_resource) or _as_it_is

    def check(self, path: str, obj: Any, old: Any, before: Before | None, budget: int = BUDGET) -> Checked:
        """Everything its rules, and those below, have against an object at `path`, and what is left of the budget."""
        judge = _Judge(budget)
        try:
            judge.visit(self, path, obj, old, _Held(before, None))
        except _Spent:
            return Checked(judge.found, -1)
        return Checked(judge.found, judge.left)


class Checked(NamedTuple):
    found: list[FieldError]
    left: int
    """What is left of the budget; negative if it did not suffice."""


def ruled(schema: Json, *, is_resource: bool) -> Ruled | None:
    """The rules of a schema; None if it has none, or none that can see it."""
    return _below(schema, declare(schema, is_resource=is_resource), is_resource=is_resource)


def _below(schema: Any, declared: Declared | None, *, is_resource: bool = False) -> Ruled | None:
    if declared is None or not isinstance(schema, dict):
        return None
    fields = {name: made for name in schema.get("properties") or () if (made := _field(schema, declared, name))}
    values = _below(schema.get("additionalProperties"), declared.values)
    items = _below(schema.get("items"), declared.items)
    if not (schema.get(RULES) or fields or values or items):
        return None
    return Ruled(schema, declared, (fields, values, items), is_resource=is_resource or bool(schema.get(EMBEDDED)))


def _field(schema: Json, declared: Declared, name: str) -> Ruled | None:
    """What has no type is not there for rules; what no rule can name may still have rules of its own."""
    child = schema["properties"][name]
    escaped = cel.escape(name)
    if escaped is None:
        return ruled(child, is_resource=bool(child.get(EMBEDDED)))
    return _below(child, (declared.fields or {}).get(escaped))


def _as_it_is(value: Any) -> Any:
    return value


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

    def __init__(self, budget: int) -> None:
        self.left = budget
        self.found: list[FieldError] = []

    def visit(self, node: Ruled, path: str, value: Any, old: Any, held: _Held) -> None:
        if value is None:
            return
        if node.rules:
            self._ask_all(node, path, value, old, held)
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

    def _ask_all(self, node: Ruled, path: str, value: Any, old: Any, held: _Held) -> None:
        place = _Place(path or NOWHERE, path, node.schema.get("type", ""), value, held)
        if self.left <= 0:
            self._stop(place, f"validation failed due to {_OUT_OF_BUDGET}")
        values = {"self": node.view(value)}
        if node.looks_back and old is not None:
            values["oldSelf"] = node.view(old)
        for rule in node.rules:
            if rule.problem:
                self.found.append(invalid(place.spelled, place.kind, f"rule compile error: {rule.problem}"))
            elif rule.program is not None and (old is not None or rule.is_optional or not rule.uses_old):
                self._ask(rule, rule.program, place, values)

    def _ask(self, rule: Rule, program: cel.Program, place: _Place, values: Mapping[str, Any]) -> None:
        given = values
        if rule.is_optional:
            given = {**values, "oldSelf": Optional(values["oldSelf"]) if "oldSelf" in values else NONE}
        try:
            verdict, cost = program.evaluate_counted(given)
        except cel.EvaluationError as failure:
            self._fail(rule, place, failure)
            return
        self._pay(place, cost)
        if verdict is not True:
            self._refuse(rule, place, values)

    def _pay(self, place: _Place, cost: int) -> None:
        if cost > self.left:
            self._stop(place, f"validation failed due to {_OUT_OF_BUDGET}")
        self.left -= cost

    def _fail(self, rule: Rule, place: _Place, failure: cel.EvaluationError) -> None:
        self._pay(place, failure.cost)
        if isinstance(failure, cel.CostExceeded):
            why = "no further validation rules will be run due to call cost exceeds limit for rule"
            self._stop(place, f"'{failure}': {why}: {rule.text}")
        told = f"{failure} evaluating rule: {rule.text}"
        if str(failure).startswith("no such overload"):
            why = "call arguments did not match a supported operator, function or macro signature for rule"
            told = f"'{failure}': {why}: {rule.text}"
        self.found.append(invalid(place.spelled, place.kind, told))

    def _stop(self, place: _Place, told: str) -> None:
        self.found.append(invalid(place.spelled, place.kind, told))
        raise _Spent

    def _refuse(self, rule: Rule, place: _Place, values: Mapping[str, Any]) -> None:
        spelled = under(place.path, rule.field) if rule.field else place.spelled
        tolerates = not rule.uses_old and place.held.is_unchanged()
        try:
            detail = self._message(rule, values) or rule.failure
        except _OverBudget as over:
            self.found.append(invalid(spelled, place.kind, str(over)).tolerated(tolerates))
            raise _Spent from None
        shown = "" if place.kind in ("object", "array") else show(place.value)
        self.found.append(_refusal(rule.said.get("reason"), spelled, shown, detail).tolerated(tolerates))

    def _message(self, rule: Rule, values: Mapping[str, Any]) -> str:
        """What the rule's expression makes of these values, "" if it makes no message. Raises _OverBudget."""
        if rule.message is None:
            return ""
        try:
            message, cost = rule.message.evaluate_counted(values)
        except cel.EvaluationError as failure:
            message, cost = "", failure.cost
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


class _Place(NamedTuple):
    spelled: str
    path: str
    kind: str
    value: Any
    held: _Held


def _refusal(reason: str | None, path: str, shown: str, detail: str) -> FieldError:
    if reason == "FieldValueForbidden":
        return forbidden(path, detail)
    if reason == "FieldValueRequired":
        return required(path, detail)
    if reason == "FieldValueDuplicate":
        return FieldError(reason, path, shown, "")
    return FieldError("FieldValueInvalid", path, shown, detail)
