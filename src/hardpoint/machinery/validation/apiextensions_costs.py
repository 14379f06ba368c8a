"""Whether the rules in CEL of a CRD's schema compile, and what they may cost.

A rule that would run on each of very many items is refused unless the schema limits them: its worst cost is estimated
from the sizes that the schema allows. A rule that was stored before is not held to the limit as long as its schema
stays the same. The words are kube-apiserver's. Few schemas have rules, and CEL is large: this is imported for those.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from hardpoint.machinery import cel
from hardpoint.machinery.fielderrors import FieldError, at, forbidden, invalid
from hardpoint.machinery.structural.declared import Declared, declare
from hardpoint.machinery.structural.keywords import EMBEDDED, LIST_TYPE, MAP_TYPE, MAP_TYPES, RULES
from hardpoint.machinery.structural.rules import Rule, compile_rules
from hardpoint.machinery.validation.apiextensions_view import rule_as_go

Json = dict[str, Any]

RULE_COST_MAX = 10_000_000
SCHEMA_COST_MAX = 100_000_000
_TOLD_MAX = 4
# Why there is no type for a schema, and why a schema with a type has none for its parts.
_UNTYPED = (
    "internal error: failed to construct type information for x-kubernetes-validations rules:"
    " unable to convert structural schema to CEL declarations"
)
_WITHOUT_PARTS = "failed to convert to declType for CEL validation rules"


@dataclass
class Costs:
    """What the rules of one whole schema are found guilty of, and what they may cost together."""

    is_exempt: bool = False
    """Whether no single rule is held to the limit, because the schema is the one that was stored."""
    errors: list[FieldError] = field(default_factory=list)
    _total: int = 0
    _expensive: list[tuple[int, str]] = field(default_factory=list)

    def observe(self, path: str, cost: int) -> None:
        self._total = min(self._total + cost, cel.UNBOUNDED)
        if cost >= SCHEMA_COST_MAX // 100:
            self._expensive.append((cost, path))

    def limit(self, path: str, cost: int, what: str) -> None:
        if cost > RULE_COST_MAX and not self.is_exempt:
            self.errors.append(forbidden(path, _over(what, cost, RULE_COST_MAX)))

    def of_schema(self, path: str) -> list[FieldError]:
        """What is wrong with all rules together."""
        if self._total <= SCHEMA_COST_MAX:
            return []
        told = "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema"
        most = sorted(self._expensive, key=lambda each: -each[0])[:_TOLD_MAX]
        what = f"{RULES} estimated rule cost total for entire OpenAPIv3 schema"
        return [
            *(forbidden(place, told) for _, place in most),
            forbidden(path, _over(what, self._total, SCHEMA_COST_MAX)),
        ]


def _over(what: str, cost: int, limit: int) -> str:
    factor = cost / limit
    told = "more than 100x" if factor > 100 else f"{factor:f}x" if factor < 1.5 else f"{factor:.1f}x"
    why = "try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings"
    return f"{what} exceeds budget by factor of {told} ({why} are declared)"


@dataclass(frozen=True)
class Scope:
    """A schema among those above it, as far as its rules are concerned."""

    schema: Json
    costs: Costs
    above: Scope | None = None
    name: str | None = None
    """The field of the schema above that it describes; None if it describes its items or values."""
    count_max: int | None = 1
    """How many values of it an object may have; None if nothing limits that."""
    uncorrelated: str | None = None
    """The path of the schema above below which nobody can tell what a value was."""

    def field(self, name: str, path: str) -> Scope:
        uncorrelated = None if self.schema.get(MAP_TYPE, "granular") in MAP_TYPES else path
        return self._below(self.schema["properties"][name], name, uncorrelated)

    def values(self) -> Scope:
        return self._below(self.schema["additionalProperties"], None)

    def items(self, path: str) -> Scope:
        return self._below(self.schema["items"], None, None if self.schema.get(LIST_TYPE) == "map" else path)

    def _below(self, schema: Json, name: str | None, uncorrelated: str | None = None) -> Scope:
        times = _elements_max(self.schema)
        count = None if self.count_max is None or times is None else min(self.count_max * times, cel.UNBOUNDED)
        return Scope(schema, self.costs, self, name, count, self.uncorrelated or uncorrelated)

    def check(self, path: str) -> None:
        """Compile the rules of the schema itself, and write down what is wrong with them."""
        if not self.schema.get(RULES):
            return
        declared = self._declared
        if isinstance(declared, str):
            self.costs.errors.append(FieldError("InternalError", f"{path}.{RULES}", "", declared))
            return
        for index, rule in enumerate(compile_rules(self.schema, declared)):
            self._check(at(f"{path}.{RULES}", index), rule, declared)

    @cached_property
    def _is_ruled(self) -> bool:
        return bool(self.schema.get(RULES)) or (self.above is not None and self.above._is_ruled)

    @cached_property
    def _declared(self) -> Declared | str:
        """Its type, which is the one that rules above see if they can see it; or why it has none."""
        above = self.above
        if above is not None and above._is_ruled:
            known = above._declared
            if isinstance(known, str):
                return known
            if self.name is None:
                return known.items or known.values or _WITHOUT_PARTS
            if (field := (known.fields or {}).get(cel.escape(self.name) or "")) is not None:
                return field
        return declare(self.schema, is_resource=above is None or bool(self.schema.get(EMBEDDED))) or _UNTYPED

    def _check(self, path: str, rule: Rule, declared: Declared) -> None:
        errors, expression = self.costs.errors, f"{path}.rule"
        cost = self._cost(rule, declared)
        self.costs.limit(expression, cost, "estimated rule cost")
        self.costs.observe(expression, cost)
        if rule.problem:
            errors.append(FieldError("FieldValueInvalid", expression, rule_as_go(rule.said), rule.problem))
        self._check_message(f"{path}.messageExpression", rule, declared)
        if rule.uses_old and self.uncorrelated is not None:
            detail = f"oldSelf cannot be used on the uncorrelatable portion of the schema within {self.uncorrelated}"
            errors.append(invalid(expression, rule.said["rule"], detail))
        elif not rule.uses_old and rule.said.get("optionalOldSelf") is not None:
            detail = "may not be set if oldSelf is not used in rule"
            errors.append(invalid(f"{path}.optionalOldSelf", rule.said["optionalOldSelf"], detail))

    def _cost(self, rule: Rule, declared: Declared) -> int:
        if rule.program is None:
            return 0
        times = declared.count_max if self.count_max is None else self.count_max
        return min(cel.estimate(rule.program, declared.sizes).max * times, cel.UNBOUNDED)

    def _check_message(self, path: str, rule: Rule, declared: Declared) -> None:
        if rule.message_problem:
            told = FieldError("FieldValueInvalid", path, rule_as_go(rule.said), rule.message_problem)
            self.costs.errors.append(told)
        elif rule.message is not None:
            cost = cel.estimate(rule.message, declared.sizes).max
            self.costs.limit(path, cost, "estimated messageExpression cost")
            self.costs.observe(path, cost)


def _elements_max(schema: Json) -> int | None:
    """How many parts one value has at most; None if nothing limits that."""
    words = {"array": "maxItems"}
    if schema.get("additionalProperties") is not None:
        words["object"] = "maxProperties"
    word = words.get(schema.get("type", ""))
    if word is None:
        return 1
    most = schema.get(word)
    return None if most is None else max(most, 0)
