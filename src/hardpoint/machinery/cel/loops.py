"""Steps that go through a list or a map. Every round is paid for before it runs, so that no loop outruns its limit."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from hardpoint.machinery.cel.costs import LIST
from hardpoint.machinery.cel.errors import MISFITS, NO_SUCH_OVERLOAD, Cancelled, EvaluationError, as_failure
from hardpoint.machinery.cel.frames import CHECKPOINT, LIMIT, SPENT, Frame, Run, Step, look_up
from hardpoint.machinery.cel.syntax import Loop
from hardpoint.machinery.cel.values import MISSING, find, type_name

# cel-go spells loops out with an accumulator; these are the costs of reading and testing it.
_ALL_ROUND, _ALL_STOP = 3, 2
_EXISTS_ROUND, _EXISTS_STOP = 4, 3
_COLLECT = 2
_INSERT = 2
_COUNT = 2
_RESULT = 1


class Plan(NamedTuple):
    """A comprehension whose parts are steps. The variables' places in the frame come last."""

    range: Step
    condition: Step | None
    body: Step
    first: int
    second: int | None


def loop(kind: Loop, plan: Plan) -> Step:
    """The step for one kind of comprehension."""
    return _MAKERS[kind](plan)


def _rounds(plan: Plan) -> Callable[[Frame], Iterable[Any]]:
    """What is gone through: items or keys; with a second variable, pairs."""
    whole, is_pairs = plan.range.run, plan.second is not None

    def run(frame: Frame) -> Iterable[Any]:
        value = whole(frame)
        if type(value) is list:
            return enumerate(value) if is_pairs else value
        if type(value) is dict:
            return value.items() if is_pairs else value
        raise EvaluationError(f"got '{type_name(value)}', expected iterable type")

    return run


def _binder(plan: Plan, cost: int) -> Callable[[Frame, Any], None]:
    """Puts a round's values into their places and pays for the round. Raises Cancelled."""
    first, second = plan.first, plan.second

    def bind_one(frame: Frame, item: Any) -> None:
        frame[SPENT] += cost
        if frame[SPENT] > frame[CHECKPOINT]:
            look_up(frame)
        frame[first] = item

    def bind_any(frame: Frame, item: Any) -> None:
        if cost:
            frame[SPENT] += cost
        else:
            # For cel-go a round may be free, because somebody cancels it in the end. Here it leaves less to be spent.
            frame[LIMIT] -= 1
            frame[CHECKPOINT] -= 1
        if frame[SPENT] > frame[CHECKPOINT]:
            look_up(frame)
        if second is None:
            frame[first] = item
        else:
            frame[first], frame[second] = item

    return bind_one if cost and second is None else bind_any


def _quantifier(decisive: bool, round_cost: int, stop_cost: int) -> Callable[[Plan], Step]:
    """`all` and `exists`: the first decisive value ends it; failures count only if there is none."""

    def make(plan: Plan) -> Step:
        rounds, bind, body = _rounds(plan), _binder(plan, round_cost + plan.body.cost), plan.body.run

        def run(frame: Frame) -> bool:
            failure: EvaluationError | None = None
            items = iter(rounds(frame))
            for item in items:
                bind(frame, item)
                try:
                    value: object = body(frame)
                except Cancelled:
                    raise
                except (EvaluationError, *MISFITS) as error:
                    failure = failure or as_failure(error)
                    continue
                if value is decisive:
                    if next(items, MISSING) is not MISSING:
                        frame[SPENT] += stop_cost
                    return decisive
                if value is not (not decisive):
                    failure = failure or EvaluationError(NO_SUCH_OVERLOAD)
            if failure is not None:
                raise failure
            return not decisive

        return Step(run, plan.range.cost + _RESULT)

    return make


def _exists_one(plan: Plan) -> Step:
    rounds, bind, body = _rounds(plan), _binder(plan, plan.body.cost), plan.body.run

    def run(frame: Frame) -> bool:
        count = 0
        for item in rounds(frame):
            bind(frame, item)
            if _is_true(body(frame)):
                frame[SPENT] += _COUNT
                count += 1
        return count == 1

    return Step(run, plan.range.cost + _RESULT + 1)


def _is_true(value: Any) -> bool:
    if value is True or value is False:
        return bool(value)
    raise EvaluationError(NO_SUCH_OVERLOAD)


def _conditioned(plan: Plan, kept_cost: int) -> tuple[int, Run]:
    """What every round costs, and the test whether its value is kept; a kept value is paid for there."""
    kept_cost += plan.body.cost
    if plan.condition is None:
        return kept_cost, lambda _: True
    test = plan.condition.run

    def is_kept(frame: Frame) -> bool:
        if not _is_true(test(frame)):
            return False
        frame[SPENT] += kept_cost
        return True

    return plan.condition.cost, is_kept


def _list(plan: Plan) -> Step:
    """`map`, `filter` and `transformList`."""
    # cel-go makes a list of every value, but only once of one that never changes.
    cost, is_kept = _conditioned(plan, _COLLECT + (0 if plan.body.constant else LIST))
    rounds, bind, body = _rounds(plan), _binder(plan, cost), plan.body.run

    def run(frame: Frame) -> list[Any]:
        found = []
        for item in rounds(frame):
            bind(frame, item)
            if is_kept(frame):
                found.append(body(frame))
        return found

    return Step(run, plan.range.cost + _RESULT)


def _map(plan: Plan) -> Step:
    """`transformMap`: a value for every key or index."""
    cost, is_kept = _conditioned(plan, _INSERT + 1)
    rounds, bind, body, key = _rounds(plan), _binder(plan, cost), plan.body.run, plan.first

    def run(frame: Frame) -> dict[Any, Any]:
        found: dict[Any, Any] = {}
        for item in rounds(frame):
            bind(frame, item)
            if is_kept(frame):
                found[frame[key]] = body(frame)
        return found

    return Step(run, plan.range.cost + _RESULT)


def _map_entries(plan: Plan) -> Step:
    """`transformMapEntry`: every round gives entries; no key may come twice."""
    cost, is_kept = _conditioned(plan, _INSERT)
    rounds, bind, body = _rounds(plan), _binder(plan, cost), plan.body.run

    def run(frame: Frame) -> dict[Any, Any]:
        found: dict[Any, Any] = {}
        for item in rounds(frame):
            bind(frame, item)
            if is_kept(frame):
                _insert_all(found, body(frame))
        return found

    return Step(run, plan.range.cost + _RESULT)


def _insert_all(found: dict[Any, Any], entries: Any) -> None:
    if type(entries) is not dict:
        raise EvaluationError(NO_SUCH_OVERLOAD)
    for key, value in entries.items():
        if find(found, key) is not MISSING:
            raise EvaluationError(f"insert failed: key {key} already exists")
        found[key] = value


_MAKERS: dict[Loop, Callable[[Plan], Step]] = {
    Loop.ALL: _quantifier(False, _ALL_ROUND, _ALL_STOP),
    Loop.EXISTS: _quantifier(True, _EXISTS_ROUND, _EXISTS_STOP),
    Loop.EXISTS_ONE: _exists_one,
    Loop.LIST: _list,
    Loop.FILTER: _list,
    Loop.MAP: _map,
    Loop.MAP_ENTRIES: _map_entries,
}
