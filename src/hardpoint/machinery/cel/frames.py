"""What an expression becomes: a tree of steps, each a Python closure over the steps below it.

All steps of one evaluation share one frame, a plain list, because nothing in Python is read faster: what was spent,
up to where nobody need look, what may be spent, who may interrupt, and then one place for each variable.

A step's fixed cost is known when it is made, and paid by the nearest step above that decides whether it runs at all:
the whole expression, a branch, a round of a loop. Only costs that depend on values are paid where they arise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from hardpoint.machinery.cel.errors import CostExceeded, Interrupted

Frame = list[Any]
Run = Callable[[Frame], Any]

SPENT, CHECKPOINT, LIMIT, INTERRUPT = range(4)
FIRST_VARIABLE = 4
BETWEEN_CHECKPOINTS = 1000
"""So much may be spent before somebody asks again whether the caller still waits."""

Interrupt = Callable[[], bool]


class Step(NamedTuple):
    run: Run
    cost: int = 0
    """What each run costs, whatever the values are."""
    base: int | None = None
    """For variables, and what is selected from something: the part of the cost that is for the beginning of the path.
    Whoever takes a path apart has this part back. None for all other steps."""
    constant: bool = False


def new_frame(size: int, limit: int, interrupt: Interrupt | None) -> Frame:
    """A frame without variables. `interrupt` is asked now and then; True ends the evaluation."""
    frame: Frame = [None] * size
    frame[SPENT], frame[LIMIT], frame[INTERRUPT] = 0, limit, interrupt
    frame[CHECKPOINT] = limit if interrupt is None else min(limit, BETWEEN_CHECKPOINTS)
    return frame


def spend(frame: Frame, cost: int) -> None:
    """Raises Cancelled."""
    frame[SPENT] += cost
    if frame[SPENT] > frame[CHECKPOINT]:
        look_up(frame)


def look_up(frame: Frame) -> None:
    """Past a checkpoint: is there anything left to spend, and does the caller still wait? Raises Cancelled."""
    spent, limit = frame[SPENT], frame[LIMIT]
    if spent > limit:
        raise CostExceeded
    if frame[INTERRUPT]():
        raise Interrupted
    frame[CHECKPOINT] = min(limit, spent + BETWEEN_CHECKPOINTS)


def ask(frame: Frame) -> None:
    """After work that may have taken long for what it costs: does the caller still wait? Raises Interrupted."""
    interrupt = frame[INTERRUPT]
    if interrupt is not None and interrupt():
        raise Interrupted


def asking(run: Run) -> Run:
    """The same, with a question after it whether the caller still waits."""

    def run_asking(frame: Frame) -> Any:
        value = run(frame)
        if frame[INTERRUPT] is not None:
            ask(frame)
        return value

    return run_asking


def paid(step: Step) -> Run:
    """The step, paying its fixed cost when it runs."""
    run, cost, _, _ = step
    if not cost:
        return run

    def run_paid(frame: Frame) -> Any:
        frame[SPENT] += cost
        return run(frame)

    return run_paid


def constant(value: Any) -> Step:
    return Step(lambda _: value, constant=True)
