"""The rules of one schema, `x-kubernetes-validations`, compiled against the type that the schema gives its values.

Whether they are cheap enough is for the definition's validation to say; what they say of a value, for `ruled`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hardpoint.machinery import cel
from hardpoint.machinery.cel.errors import BadConstant
from hardpoint.machinery.structural.declared import Declared
from hardpoint.machinery.structural.fieldpaths import BadPath, follow
from hardpoint.machinery.structural.keywords import RULES

Json = dict[str, Any]

# kube-apiserver makes up a name with a number in it, so that no rule can rely on it.
_TYPE_NAME = "selfType1"


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule, and what became of compiling it. One without an expression has neither program nor problem."""

    said: Json
    """As the definition has it."""
    program: cel.Program | None = None
    problem: str = ""
    """Why there is no program."""
    uses_old: bool = False
    """Whether it is about a change, and so asks what the value was before."""
    is_optional: bool = False
    """Whether it is asked even if there was nothing before."""
    message: cel.Program | None = None
    """What makes the message, where an expression does."""
    message_problem: str = ""
    field: str = ""
    """The field below the value that a failure is told of, as refusals spell it."""

    @property
    def text(self) -> str:
        """What is told of it when something goes wrong: its author's message, or else itself."""
        return str(self.said.get("message") or self.said.get("rule", "")).strip()

    @property
    def failure(self) -> str:
        """What is told when it fails and no expression makes a message."""
        return self.text if self.said.get("message") else f"failed rule: {self.text}"


def compile_rules(schema: Json, declared: Declared) -> tuple[Rule, ...]:
    """The rules of a schema, not of those below it."""
    if not schema.get(RULES):
        return ()
    seen = declared.type(_TYPE_NAME)
    certain = {"self": seen, "oldSelf": seen}
    perhaps = {"self": seen, "oldSelf": cel.optional_of(seen)}
    return tuple(_compiled(each, schema, perhaps if each.get("optionalOldSelf") else certain) for each in schema[RULES])


def _compiled(said: Json, schema: Json, variables: dict[str, cel.Type]) -> Rule:
    if not said.get("rule", "").strip():
        return Rule(said)
    try:
        program = cel.compile(said["rule"], variables, result=cel.BOOL)
    except cel.CompileError as wrong:
        return Rule(said, problem=_told(wrong, "cel expression must evaluate to a bool", "compilation", "program"))
    message, problem = None, ""
    if said.get("messageExpression"):
        try:
            message = cel.compile(said["messageExpression"], variables, result=cel.STRING)
        except cel.CompileError as wrong:
            must = "messageExpression must evaluate to a string"
            problem = _told(wrong, must, "messageExpression compilation", "messageExpression")
    return Rule(
        said,
        program,
        uses_old="oldSelf" in program.variables,
        is_optional=bool(said.get("optionalOldSelf")),
        message=message,
        message_problem=problem,
        field=_field(said.get("fieldPath", ""), schema),
    )


def _told(wrong: cel.CompileError, must: str, compiling: str, making: str) -> str:
    if isinstance(wrong, cel.WrongResult):
        return must
    if isinstance(wrong, BadConstant):
        return f"{making} instantiation failed: {wrong}"
    return f"{compiling} failed: {wrong}"


def _field(path: str, schema: Json) -> str:
    try:
        return follow(schema, path).spelled
    except BadPath:
        return ""
