"""Steps whose operands need not all be evaluated, and equality.

`a && b` is false if either is false, even if the other fails; so with `||` and true. A failure counts only when no
other operand decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hardpoint.machinery.cel.comparing import Same
from hardpoint.machinery.cel.costs import read
from hardpoint.machinery.cel.errors import MISFITS, NO_SUCH_OVERLOAD, Cancelled, EvaluationError, as_failure
from hardpoint.machinery.cel.frames import SPENT, Frame, Step, ask, paid, spend
from hardpoint.machinery.cel.values import Duration, Opaque, Optional, Timestamp, equal, size_of

_SCALARS = frozenset((int, bool, float, type(None), Timestamp, Duration))


def junction(operands: Sequence[Step], decisive: bool) -> Step:
    """The first operand that is `decisive` decides: True for `||`, False for `&&`."""
    first, *rest = operands
    runs = (first.run, *map(paid, rest))
    other = not decisive

    def run(frame: Frame) -> bool:
        failure: EvaluationError | None = None
        for operand in runs:
            try:
                value: object = operand(frame)
            except Cancelled:
                raise
            except (EvaluationError, *MISFITS) as error:
                failure = failure or as_failure(error)
                continue
            if value is decisive:
                return decisive
            if value is not other:
                failure = failure or EvaluationError(NO_SUCH_OVERLOAD)
        if failure is not None:
            raise failure
        return other

    return Step(run, first.cost)


def conditional(condition: Step, chosen: Step, otherwise: Step) -> Step:
    """Only the branch that is taken is evaluated; the beginning of its path costs nothing."""
    test = condition.run
    then, other = (paid(branch._replace(cost=branch.cost - (branch.base or 0))) for branch in (chosen, otherwise))

    def run(frame: Frame) -> Any:
        value = test(frame)
        if value is True:
            return then(frame)
        if value is False:
            return other(frame)
        raise EvaluationError(NO_SUCH_OVERLOAD)

    return Step(run, condition.cost, base=0)


def equality(left: Step, right: Step, wanted: bool, same: Same = equal) -> Step:
    """`==`, or `!=` if equality is not `wanted`; `same` compares what is no text."""
    first, second = left.run, right.run

    def run(frame: Frame) -> bool:
        try:
            one, other = first(frame), second(frame)
        except EvaluationError:
            frame[SPENT] += 1
            raise
        if type(one) is str and type(other) is str:
            shorter = one if len(one) < len(other) else other
            frame[SPENT] += (len(shorter) + 9) // 10
            return (one == other) is wanted
        if type(one) in _SCALARS:
            frame[SPENT] += 1 if type(other) in _SCALARS else read(min(1, size_of(other)))
            return equal(one, other) is wanted
        spend(frame, 1 if isinstance(one, Opaque) else read(min(size_of(one), size_of(other))))
        found = same(one, other) is wanted
        # What is in a container costs nothing, however much it is.
        ask(frame)
        return found

    return Step(run, left.cost + right.cost)


def or_value(optional: Step, default: Step) -> Step:
    """`optional.orValue(default)`: the default is evaluated only when it is needed."""
    asked, otherwise = optional.run, paid(default)

    def run(frame: Frame) -> Any:
        value = _optional(asked(frame))
        return value.value() if value.has_value else otherwise(frame)

    return Step(run, optional.cost)


def or_optional(optional: Step, default: Step) -> Step:
    """`optional.or(other)`."""
    asked, otherwise = optional.run, paid(default)

    def run(frame: Frame) -> Any:
        value = _optional(asked(frame))
        return value if value.has_value else _optional(otherwise(frame))

    return Step(run, optional.cost)


def _optional(value: Any) -> Optional:
    if type(value) is not Optional:
        raise EvaluationError(NO_SUCH_OVERLOAD)
    return value
