"""CEL, the expression language of Kubernetes' rules, conditions and policies.

    program = cel.compile("request.user == 'jane'", {"request": cel.object_of("Request", {"user": cel.STRING})})
    program.evaluate({"request": {"user": "jane"}})

An expression is checked when it is compiled: a field that an object type does not declare is a mistake, and so is a
call that fits no function. Evaluating one is bounded: every step costs, in kube-apiserver's units, and past the limit
it ends; on an event loop, pass `interrupt` too, because cost is not time. `estimate` tells what it may cost at most.
All function libraries of v1.37 are there; `authorizer` is what a variable of type AUTHORIZER makes of it. Importing
this package costs some 60 ms: import it where an expression is at hand. Why there is an engine of our own:
docs/decisions/0006-cel.md.
"""

from __future__ import annotations

from hardpoint.machinery.cel.costs import MATCH_CONDITIONS_MAX, PER_CALL_MAX
from hardpoint.machinery.cel.errors import CompileError, CostExceeded, EvaluationError, Interrupted, WrongResult
from hardpoint.machinery.cel.escaping import RESERVED, escape, unescape
from hardpoint.machinery.cel.estimates import Sizes, estimate
from hardpoint.machinery.cel.library.authorization import (
    AUTHORIZER,
    RESOURCE_CHECK,
    Authorizer,
    Check,
    Decision,
    ResourceCheck,
)
from hardpoint.machinery.cel.program import Program, compile
from hardpoint.machinery.cel.ranges import UNBOUNDED
from hardpoint.machinery.cel.ranges import Range as CostRange
from hardpoint.machinery.cel.ranges import Range as SizeRange
from hardpoint.machinery.cel.trails import Path
from hardpoint.machinery.cel.types import (
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    DYN,
    INT,
    NULL,
    STRING,
    TIMESTAMP,
    UINT,
    Type,
    list_of,
    map_list_of,
    map_of,
    object_of,
    optional_of,
    set_list_of,
)

__all__ = [
    "AUTHORIZER",
    "RESOURCE_CHECK",
    "Authorizer",
    "Check",
    "Decision",
    "ResourceCheck",
    "BOOL",
    "BYTES",
    "DOUBLE",
    "DURATION",
    "DYN",
    "INT",
    "MATCH_CONDITIONS_MAX",
    "NULL",
    "PER_CALL_MAX",
    "RESERVED",
    "STRING",
    "TIMESTAMP",
    "UNBOUNDED",
    "CostRange",
    "Path",
    "SizeRange",
    "Sizes",
    "escape",
    "estimate",
    "UINT",
    "CompileError",
    "CostExceeded",
    "EvaluationError",
    "Interrupted",
    "Program",
    "Type",
    "WrongResult",
    "compile",
    "list_of",
    "map_list_of",
    "map_of",
    "object_of",
    "optional_of",
    "set_list_of",
    "unescape",
]
