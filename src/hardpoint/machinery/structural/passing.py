"""Whether all rules say yes to an object: as fast as it goes, without words.

Nearly every object passes. Who does not, or takes a while, is told why by `judged`, which asks all rules again.
"""

from __future__ import annotations

from typing import Any

from hardpoint.machinery import cel, patience
from hardpoint.machinery.cel.values import NONE, Optional
from hardpoint.machinery.structural.before import keyed, was
from hardpoint.machinery.structural.ruled import Ruled

Json = dict[str, Any]

DOUBTFUL = -1


def passes(node: Ruled, value: Any, old: Any, left: int) -> int:
    """What is left of a budget after every rule said yes to a value that was `old`, or DOUBTFUL."""
    if value is None:
        return left
    if node.rules:
        left = _asked(node, value, old, left)
    if value.__class__ is dict:
        return _object(node, value, old if old.__class__ is dict else {}, left)
    if value.__class__ is list and node.items is not None:
        before = keyed(node.schema, old) if old.__class__ is list else {}
        for item in value:
            if left < 0:
                break
            left = passes(node.items, item, was(item, before, node.schema) if before else None, left)
    return left


def _object(node: Ruled, value: Json, old: Json, left: int) -> int:
    for name, field in node.fields.items():
        if name in value and left >= 0:
            left = passes(field, value[name], old.get(name), left)
    if node.values is not None:
        for name, item in value.items():
            if left < 0:
                break
            left = passes(node.values, item, old.get(name), left)
    return left


def _asked(node: Ruled, value: Any, old: Any, left: int) -> int:
    values = {"self": node.view(value)}
    if node.looks_back:
        values["oldSelf"] = None if old is None else node.view(old)
    for rule in node.rules:
        if rule.program is None:
            if rule.problem:
                return DOUBTFUL
            continue
        given = values
        if rule.uses_old:
            if rule.is_optional:
                given = {**values, "oldSelf": NONE if old is None else Optional(values["oldSelf"])}
            elif old is None:
                continue
        try:
            verdict, cost = rule.program.evaluate_counted(given, cost_max=left, interrupt=patience.interrupt)
        except cel.EvaluationError:
            return DOUBTFUL
        if verdict is not True:
            return DOUBTFUL
        left -= cost
    return left
