"""Which questions a webhook is asked: CEL conditions on `request`, all of which must hold.

`request` is the spec of the SubjectAccessReview (v1), with every text in it, empty or not; only selectors and the
attributes of the other sort may be missing. Conditions are compiled when a configuration is read. All of them together
have a limit in cost and in time, because they run before every request.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hardpoint.apiserver.authorization.reasons import together
from hardpoint.machinery.errors import HardpointError
from hardpoint.seams.authorization.contract import SubjectAccessReviewSpec

if TYPE_CHECKING:
    from hardpoint.machinery.cel import Program, Type

PATIENCE_SECONDS = 0.3
"""For all conditions together; a sound one takes microseconds."""

_ATTRIBUTES = ("namespace", "verb", "group", "version", "resource", "subresource", "name")


class MatchFailed(HardpointError):
    """A condition has no value for this request; whether the webhook is asked is the failure policy's decision."""


class BadCondition(HardpointError):
    """A condition that cannot be used; the text is kube-apiserver's."""


def compiled(expression: str) -> Program:
    """The program of a condition. Raises BadCondition."""
    from hardpoint.machinery import cel  # Few clusters have a condition.
    from hardpoint.machinery.cel.errors import BadConstant

    try:
        return cel.compile(expression, {"request": _request_type()}, result=cel.BOOL)
    except cel.WrongResult as wrong:
        raise BadCondition(str(wrong)) from wrong
    except BadConstant as wrong:
        raise BadCondition(f"program instantiation failed: {wrong}") from wrong
    except cel.CompileError as wrong:
        raise BadCondition(f"compilation failed: {wrong}") from wrong


class Matcher:
    """Whether a webhook is asked a question."""

    def __init__(self, programs: Sequence[Program], *, clock: Callable[[], float] = time.monotonic) -> None:
        self._programs = programs
        self._clock = clock

    def matches(self, spec: SubjectAccessReviewSpec) -> bool:
        """Whether all conditions hold; one that does not hold outweighs those that fail. Raises MatchFailed."""
        from hardpoint.machinery.cel import MATCH_CONDITIONS_MAX, PER_CALL_MAX, EvaluationError

        variables = {"request": request_of(spec)}
        end, left = self._clock() + PATIENCE_SECONDS, MATCH_CONDITIONS_MAX
        failures: list[str] = []
        for program in self._programs:
            try:
                holds, cost = program.evaluate_counted(
                    variables, cost_max=min(left, PER_CALL_MAX), interrupt=lambda: self._clock() > end
                )
            except EvaluationError as failed:
                told = f"cel evaluation error: expression '{program.expression}' resulted in error: {failed}"
                failures.append(told)
                continue
            if not holds:
                return False
            left -= cost
        if failures:
            raise MatchFailed(together(failures))
        return True


def request_of(spec: SubjectAccessReviewSpec) -> dict[str, Any]:
    """The value of `request`."""
    request: dict[str, Any] = {
        "user": spec.get("user", ""),
        "groups": spec.get("groups", []),
        "uid": spec.get("uid", ""),
        "extra": spec.get("extra", {}),
    }
    if (resource := spec.get("resourceAttributes")) is not None:
        request["resourceAttributes"] = {name: resource.get(name, "") for name in _ATTRIBUTES} | _selectors(resource)
    if (path := spec.get("nonResourceAttributes")) is not None:
        request["nonResourceAttributes"] = {"path": path.get("path", ""), "verb": path.get("verb", "")}
    return request


def _selectors(resource: Mapping[str, Any]) -> dict[str, Any]:
    return {name: resource[name] for name in ("fieldSelector", "labelSelector") if name in resource}


def _request_type() -> Type:
    """SubjectAccessReviewSpec with the fields it has, so that a wrong name is found when it is written."""
    from hardpoint.machinery.cel import STRING, list_of, map_of, object_of

    requirement = object_of(
        "kubernetes.SelectorRequirement", {"key": STRING, "operator": STRING, "values": list_of(STRING)}
    )
    selector = {"rawSelector": STRING, "requirements": list_of(requirement)}
    resource = object_of(
        "kubernetes.ResourceAttributes",
        {
            **dict.fromkeys(_ATTRIBUTES, STRING),
            "fieldSelector": object_of("kubernetes.FieldSelectorAttributes", selector),
            "labelSelector": object_of("kubernetes.LabelSelectorAttributes", selector),
        },
    )
    return object_of(
        "kubernetes.SubjectAccessReviewSpec",
        {
            "resourceAttributes": resource,
            "nonResourceAttributes": object_of("kubernetes.NonResourceAttributes", {"path": STRING, "verb": STRING}),
            "user": STRING,
            "groups": list_of(STRING),
            "extra": map_of(STRING, list_of(STRING)),
            "uid": STRING,
        },
    )
